/**
 * The commits of an operation, each one job on the lane's mutation line (spec §3.4, §4.1).
 *
 * A job reads the one register that decides whether it may commit, computes the transition, commits it, and returns
 * the operation as it is then. The registers that it does not read are the ones that nothing else can have changed
 * while `op.state` carries the expected seq: an open operation alone moves its lane's leaf.
 */
import { absurd, timestampOf } from "../foundation/index.ts";
import type { LaneLastResult, ModelIdentity, SettledAssistantMessage } from "../model/index.ts";
import {
  CANCELLED_POLL_TEXT,
  type CurrentOperation,
  cancelledRequestText,
  classify,
  classifyPoll,
  type EffectKey,
  generationKey,
  isLastCall,
  isRun,
  normalizeForStorage,
  OPERATION_ERROR_CODES,
  type OperationEvent,
  type Publication,
  pollKey,
  resultOf,
  summaryGenerationOf,
  summaryKey,
  syntheticResponse,
  type TerminalOutcome,
  type Transition,
  toolCallsOf,
  toolKey,
  transition,
} from "../operation/index.ts";
import { announce } from "./announce.ts";
import { turnIdOf } from "./commit-events.ts";
import type { DriveState } from "./drive-state.ts";
import { followTurn, innermost, rememberWrites } from "./drive-state.ts";
import type { EffectPlan, SettlementOutput, ToolOutput } from "./effects.ts";
import type { Environment } from "./environment.ts";
import { prepareCompactionAt } from "./preparation.ts";
import { commitAndPublish } from "./publish.ts";
import { readCurrent } from "./restore.ts";
import { withIds } from "./structural.ts";
import { notExecuted, toolSettlement } from "./tools.ts";

/** What a transition snapshotted and must still find unchanged. */
export interface CommitExpectation {
  readonly configurationSeq: number;
  readonly settingsRevision: number;
}

/** See the module header. Every method is called on the lane's mutation line. */
export class OperationCommits {
  readonly #environment: Environment;
  readonly #live: DriveState;

  constructor(environment: Environment, live: DriveState) {
    this.#environment = environment;
    this.#live = live;
  }

  async transition(
    current: CurrentOperation,
    event: OperationEvent,
    expectation?: CommitExpectation,
  ): Promise<CurrentOperation | undefined> {
    const { session, settings } = this.#environment;
    const { operationId, lane } = current.operation;
    const stored = await session.getRegister("op.state", operationId);
    if (stored?.seq !== current.stateSeq) return undefined;
    if (expectation) {
      const configuration = await session.getRegister("lane.config", lane);
      if (configuration?.seq !== expectation.configurationSeq) return undefined;
      if (settings.revision !== expectation.settingsRevision) return undefined;
    }
    return this.#commit(current, transition(current, event));
  }

  /**
   * The intent of an effect. While its hooks were asked nothing but the outside can have changed the state: its inbox
   * grew, which the intent carries along; or it was cancelled, which forbids the effect.
   */
  async intent(current: CurrentOperation, event: OperationEvent): Promise<CurrentOperation | undefined> {
    const latest = await this.#latest(current);
    if (latest === undefined || isCancelled(latest)) return undefined;
    return this.#commit(latest, transition(latest, event));
  }

  async settlement(
    current: CurrentOperation,
    key: EffectKey,
    output: SettlementOutput,
  ): Promise<CurrentOperation | undefined> {
    const latest = await this.#latest(current);
    if (latest === undefined) return undefined;
    const event = await this.#eventOf(latest, key, output);
    await announce(this.#environment, this.#live, latest, { key, output, event });
    return this.#commit(latest, transition(latest, event));
  }

  async terminal(current: CurrentOperation, outcome: TerminalOutcome): Promise<LaneLastResult | undefined> {
    const { session } = this.#environment;
    const { operationId, lane } = current.operation;
    const [state, laneState, argumentRegisters, preparations] = await Promise.all([
      session.getRegister("op.state", operationId),
      session.getRegister("lane.state", lane),
      session.listRegisters("op.tool_args", `${operationId}:`),
      session.listRegisters("op.preparation", `${operationId}:`),
    ]);
    if (state?.seq !== current.stateSeq || laneState === undefined) return undefined;
    const publication = this.#publicationOf(current, outcome);
    const result = resultOf(current, outcome, publication);
    const reads = {
      laneState: laneState.value,
      argumentKeys: argumentRegisters.map(({ key }) => key),
      preparationKeys: preparations.map(({ key }) => key),
    };
    const published = publication === undefined ? {} : { publication };
    const { writes } = transition(current, { kind: "finished", outcome, reads, ...published });
    await commitAndPublish(this.#environment, { writes }, this.#live.spans.operation);
    return result;
  }

  #publicationOf(current: CurrentOperation, outcome: TerminalOutcome): Publication | undefined {
    if (outcome.kind !== "published") return undefined;
    const concluded = withIds(current, outcome, () => this.#environment.session.idGenerator.next());
    return concluded.kind === "published" ? concluded.publication : undefined;
  }

  /** The operation as it is now: what the drive holds, unless another change of the lane came between. */
  async #latest(current: CurrentOperation): Promise<CurrentOperation | undefined> {
    const { session } = this.#environment;
    const stored = await session.getRegister("op.state", current.operation.operationId);
    if (stored?.seq === current.stateSeq) return current;
    return stored && readCurrent(session, current.operation.lane, current.operation.operationId);
  }

  async #eventOf(
    current: CurrentOperation,
    key: EffectKey,
    output: SettlementOutput,
  ): Promise<OperationEvent> {
    switch (output.kind) {
      case "assistant":
        return this.#generationEvent(current, key, output);
      case "tool":
        return this.#toolEvent(current, key, output);
      case "summary": {
        const pending = summaryGenerationOf(current.state);
        if (pending?.status !== "effect_pending" || summaryKey(pending) !== key) throw notPending(key);
        return { kind: "summary_request_settled", usage: output.message.usage };
      }
      case "deferred":
        return this.#pollEvent(current, key, output);
      case "cancel_deferred":
        throw new Error("nothing is settled of the cancellation of a deferred job");
      case "not_started":
        if (current.state.control.status === "running") throw notPending(key);
        return this.#eventOf(current, key, this.#insteadOf(output.plan));
      default:
        return absurd(output, "effect output");
    }
  }

  /** What is settled of an effect that a cancellation kept from starting. */
  #insteadOf(plan: EffectPlan): SettlementOutput {
    switch (plan.kind) {
      case "assistant": {
        const { attempt, context } = plan.generation;
        return this.#aborted("assistant", context.configuration.model, cancelledRequestText(attempt));
      }
      case "tool":
        return { kind: "tool", sourceIndex: plan.sourceIndex, execution: notExecuted(plan) };
      case "deferred":
        return this.#aborted("deferred", plan.deferred.configuration.model, CANCELLED_POLL_TEXT);
      case "summary":
      case "cancel_deferred":
        throw new Error(`nothing is settled of an effect of the kind ${plan.kind} that was not started`);
    }
  }

  #aborted(kind: "assistant" | "deferred", model: ModelIdentity, errorMessage: string): SettlementOutput {
    const nowMs = this.#environment.clock.now();
    return { kind, message: syntheticResponse({ model, stopReason: "aborted", errorMessage, nowMs }) };
  }

  async #generationEvent(
    current: CurrentOperation,
    key: EffectKey,
    { message, isInterrupted }: Extract<SettlementOutput, { kind: "assistant" }>,
  ): Promise<OperationEvent> {
    const phase = isRun(current) ? current.state.phase : undefined;
    if (phase?.kind !== "assistant" || phase.generation.status !== "effect_pending") throw notPending(key);
    const { generation } = phase;
    if (generationKey(generation) !== key) throw notPending(key);
    const { session, clock } = this.#environment;
    // An interrupted attempt failed for good: the policy was asked before, and the text of its error is ours.
    const isFailure = isInterrupted && current.state.control.status === "running";
    const classification = isFailure
      ? ({ kind: "failure" } as const)
      : classify(message, current.state.control, generation);
    if (isFailure) {
      const failureCode = OPERATION_ERROR_CODES.interrupted;
      return { kind: "generation_settled", message, classification, nowMs: clock.now(), failureCode };
    }
    const settled = { kind: "generation_settled", message, classification, nowMs: clock.now() } as const;
    if (classification.kind === "tools") {
      return {
        ...settled,
        resultEntryIds: this.#resultIds(generation.responseEntryId, classification.calls),
      };
    }
    if (classification.kind !== "overflow" || !classification.isFirst) return settled;
    const stored = normalizeForStorage(message, classification, generation.intendedOutputLimit);
    const preparation = await this.#prepareOverflow(current, generation.responseEntryId, stored);
    if (preparation === undefined) return settled;
    return { ...settled, compaction: { taskId: session.idGenerator.next(), preparation } };
  }

  /** The branch as it will be with the response that did not fit; switched off, there is nothing to compact. */
  async #prepareOverflow(current: CurrentOperation, id: string, message: SettledAssistantMessage) {
    const settings = isRun(current) ? current.state.settings.compaction : undefined;
    if (settings?.enabled !== true) return undefined;
    const { leafId } = current;
    const response = { type: "message", id, parentId: leafId, message } as const;
    return prepareCompactionAt(this.#environment, leafId, settings, response);
  }

  #pollEvent(
    current: CurrentOperation,
    key: EffectKey,
    { message }: Extract<SettlementOutput, { kind: "deferred" }>,
  ): OperationEvent {
    const phase = isRun(current) ? current.state.phase : undefined;
    if (phase?.kind !== "deferred" || phase.deferred.status !== "effect_pending") throw notPending(key);
    const { deferred } = phase;
    const source = this.#live.latestAssistant;
    if (pollKey(deferred) !== key || source?.entryId !== deferred.sourceEntryId) throw notPending(key);
    const handle = source.message.deferred;
    if (handle === undefined) throw notPending(key);
    const classification = classifyPoll(message, current.state.control, handle);
    const settled = { kind: "poll_settled", message, classification, source: handle } as const;
    if (classification.kind !== "tools") return settled;
    return { ...settled, resultEntryIds: this.#resultIds(deferred.responseEntryId, classification.calls) };
  }

  /** Reserves one id per call; they carry the time of the response. */
  #resultIds(responseEntryId: string, calls: readonly unknown[]): string[] {
    const leaderMs = timestampOf(responseEntryId);
    return calls.map(() => this.#environment.session.idGenerator.next(leaderMs));
  }

  async #toolEvent(
    current: CurrentOperation,
    key: EffectKey,
    { sourceIndex, execution }: ToolOutput,
  ): Promise<OperationEvent> {
    const phase = isRun(current) ? current.state.phase : undefined;
    if (phase?.kind !== "tools" || toolKey(phase.batch, sourceIndex) !== key) throw notPending(key);
    const { session } = this.#environment;
    const { batch } = phase;
    const assistant = this.#live.latestAssistant;
    const call = assistant?.entryId === batch.assistantEntryId && toolCallsOf(assistant.message)[sourceIndex];
    if (!call) throw notPending(key);
    const prefix = `${current.operation.operationId}:${batch.turnId}:`;
    const stored = isLastCall(batch, sourceIndex) ? await session.listRegisters("op.tool_args", prefix) : [];
    return toolSettlement(this.#environment, {
      call,
      sourceIndex,
      execution,
      // Without a hook that began before it, a cancellation that is durable came first.
      isCutShort: execution.kind !== "finalized" && isCancelled(current),
      argumentKeys: stored.map((register) => register.key),
    });
  }

  async #commit(current: CurrentOperation, step: Transition): Promise<CurrentOperation> {
    const { writes, state } = step;
    if (state === undefined) throw new Error("a terminal transaction goes through `terminal`");
    const { operationId } = current.operation;
    const isCheckpoint = isRun(current) && current.state.phase.kind === "checkpoint";
    const checkpoint = isCheckpoint
      ? this.#live.spans.operation.start("pi.harness.checkpoint", { "pi.harness.operation_id": operationId })
      : undefined;
    const { seqs } = await commitAndPublish(
      this.#environment,
      { writes },
      checkpoint ?? innermost(this.#live),
    );
    checkpoint?.end();
    followTurn(this.#live, turnIdOf(state));
    rememberWrites(this.#live, writes);
    // Every transition but the terminal one ends with its state.
    const stateSeq = seqs.at(-1) ?? current.stateSeq;
    return { ...current, state, stateSeq, leafId: step.leafId };
  }
}

function isCancelled({ state }: CurrentOperation): boolean {
  return state.control.status === "cancel_requested";
}

/** The state moved on without the effect: only a defect does that, since settlement is the one way past an intent. */
function notPending(key: EffectKey): Error {
  return new Error(`effect ${key} is not pending in the current state`);
}
