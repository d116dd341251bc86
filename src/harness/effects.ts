/**
 * The effects boundary: the list of the places where a process can die (spec §4.2).
 *
 * Whatever an operation does that is not pure computation crosses exactly one method of `Effects`: a commit, a
 * provider request, a tool execution, a hook, a timer. The interpreter has nothing else; it gets no store, no registry and no
 * clock. Manual drive parks before each method and calls the same one (`manual-drive.ts`).
 *
 * Invariants.
 * 1. Intent before effect: `run` is called only with a plan whose `effect_pending` state is durable.
 * 2. A transition commits only while `op.state` still carries the seq that it extends; otherwise nothing is written
 *    and `undefined` comes back. A settlement is merged into the state as it is on the mutation line at that moment.
 * 3. Expected failures of providers and tools come back as outputs. A method rejects only if the harness was closed or
 *    is faulted, or if an application's own callback failed, which faults it.
 * 4. The `AbortSignal` that providers and tools get belongs to the harness. Nobody else can raise it.
 */
import type { Clock } from "../foundation/index.ts";
import type {
  AgentHarnessStreamOptions,
  AgentMessage,
  Deferred,
  DeferredHandle,
  DurableStructuralPreparation,
  Generation,
  JsonObject,
  LaneConfiguration,
  LaneLastResult,
  Operation,
  SettledAssistantMessage,
  SummaryGeneration,
  ToolBatch,
  ToolCallContent,
} from "../model/index.ts";
import type {
  CurrentOperation,
  EffectKey,
  OperationEvent,
  StructuralHookDecision,
  SummaryStage,
  SyntheticToolReason,
  TerminalOutcome,
} from "../operation/index.ts";
import { type CommitExpectation, OperationCommits } from "./commits.ts";
import { askDecisionHooks, type DecisionWork } from "./decision-hooks.ts";
import { requestCancellation, requestPoll } from "./deferred.ts";
import { mayStart } from "./dispatch.ts";
import { type DriveState, hookSite, innermost } from "./drive-state.ts";
import type { Environment } from "./environment.ts";
import { requestAssistant } from "./generation.ts";
import type { HookSite } from "./hook-pipeline.ts";
import type { MutationLine } from "./lane-line.ts";
import { beforeRequest } from "./request-hooks.ts";
import { beforeRunEnd } from "./run-hooks.ts";
import { CallEvents } from "./step-events.ts";
import { requestSummary } from "./summary-request.ts";
import { inSpan, type TelemetrySpan } from "./telemetry.ts";
import { afterTool, beforeTool } from "./tool-hooks.ts";
import { type Clearance, executeTool, readyCall, resultOf, type StoredResult } from "./tools.ts";

/** An effect that is about to run, with everything that it needs. JSON-safe, so that manual drive can show it. */
export type EffectPlan =
  | {
      readonly kind: "assistant";
      readonly key: EffectKey;
      readonly operation: Operation;
      readonly generation: Extract<Generation, { status: "effect_pending" }>;
      /** As `before_request` left them, like those of the other requests. */
      readonly streamOptions: AgentHarnessStreamOptions;
      /** The leaf at which the context is projected. */
      readonly leafId: string | null;
    }
  | {
      readonly kind: "tool";
      readonly key: EffectKey;
      readonly operation: Operation;
      readonly batch: ToolBatch;
      readonly sourceIndex: number;
      readonly call: ToolCallContent;
      /** The stored arguments. */
      readonly arguments: JsonObject;
      /** Whether another process started it before, so that it may have taken effect. */
      readonly isReplay: boolean;
    }
  | {
      readonly kind: "summary";
      readonly key: EffectKey;
      readonly operation: Operation;
      readonly customInstructions: string | undefined;
      readonly generation: Extract<SummaryGeneration, { status: "effect_pending" }>;
      readonly streamOptions: AgentHarnessStreamOptions;
      readonly stage: SummaryStage;
      readonly preparation: DurableStructuralPreparation;
    }
  | {
      readonly kind: "deferred";
      readonly key: EffectKey;
      readonly operation: Operation;
      readonly deferred: Extract<Deferred, { status: "effect_pending" }>;
      readonly streamOptions: AgentHarnessStreamOptions;
      readonly handle: DeferredHandle;
    }
  | {
      readonly kind: "cancel_deferred";
      readonly key: EffectKey;
      readonly operation: Operation;
      readonly sourceEntryId: string;
      readonly configuration: LaneConfiguration;
      readonly handle: DeferredHandle;
    };

export type ToolPlan = Extract<EffectPlan, { kind: "tool" }>;

/** What came out of an effect. */
export type EffectOutput = SettlementOutput | RawToolOutput;

/** What a tool gave, before `finalizeTool`. */
export interface RawToolOutput {
  readonly kind: "tool_raw";
  readonly plan: ToolPlan;
  readonly execution: ToolExecution;
}

/** What is settled. */
export type SettlementOutput =
  | {
      readonly kind: "assistant";
      readonly message: SettledAssistantMessage;
      /** The message stands in for an outcome that the death of a process made unknowable. */
      readonly isInterrupted?: true;
    }
  | ToolOutput
  /** The answer to one nested request. */
  | { readonly kind: "summary"; readonly message: SettledAssistantMessage }
  | { readonly kind: "deferred"; readonly message: SettledAssistantMessage }
  /** Whatever came of it; nothing is settled. */
  | { readonly kind: "cancel_deferred" }
  /** A cancellation was durable before the effect started. */
  | { readonly kind: "not_started"; readonly plan: EffectPlan };

export interface ToolOutput {
  readonly kind: "tool";
  readonly sourceIndex: number;
  readonly execution: ToolExecution;
}

/** The raw end of a tool call: what the tool returned or threw, or why it was not executed. */
export type ToolExecution =
  | { readonly kind: "returned"; readonly result: unknown }
  | { readonly kind: "threw"; readonly message: string }
  | { readonly kind: "synthetic"; readonly reason: SyntheticToolReason }
  /** As `after_tool` left it. */
  | { readonly kind: "finalized"; readonly result: StoredResult };

/** A request that is about to be made. */
export type HookedRequest = Parameters<typeof beforeRequest>[2];
/** A call that is cleared. */
export type ClearedCall = Extract<Clearance, { kind: "cleared" }>;

/** See the module header. */
export interface Effects {
  /** One transition, conditional on the state (and, where asked, on configuration and settings) being current. */
  commitTransition(
    current: CurrentOperation,
    event: OperationEvent,
    expectation?: CommitExpectation,
  ): Promise<CurrentOperation | undefined>;
  /**
   * The intent of an effect, into the latest state: what its hooks answered is not lost to input that was queued
   * meanwhile. Undefined: the operation is cancelled, or was ended from outside.
   */
  commitIntent(current: CurrentOperation, event: OperationEvent): Promise<CurrentOperation | undefined>;
  /** Settles an output into the latest state. Undefined: the operation was ended from outside. */
  commitSettlement(
    current: CurrentOperation,
    key: EffectKey,
    output: SettlementOutput,
  ): Promise<CurrentOperation | undefined>;
  /** The terminal transaction. Undefined: the state is not current any more. */
  commitTerminal(current: CurrentOperation, outcome: TerminalOutcome): Promise<LaneLastResult | undefined>;
  /** Runs a request, a poll or a tool, unless a cancellation came first; or the cancellation of a deferred job. */
  run(plan: EffectPlan): Promise<EffectOutput>;
  /** Takes what a tool gave, in source order, as its hooks leave it. */
  finalizeTool(raw: RawToolOutput): Promise<ToolOutput>;
  /** The options of a request as its hooks leave them. */
  beforeRequest(operation: Operation, request: HookedRequest): Promise<AgentHarnessStreamOptions>;
  /** A call as its hooks leave it: cleared, or blocked. */
  beforeTool(operation: Operation, call: ToolCallContent, cleared: ClearedCall): Promise<Clearance>;
  /** What the decision hooks of structural work come to. Undefined: a cancellation came first. */
  decide(operation: Operation, work: DecisionWork): Promise<StructuralHookDecision | undefined>;
  /** Asks before a run ends normally; answers the message with which it is to go on. */
  beforeRunEnd(current: CurrentOperation): Promise<AgentMessage | undefined>;
  /** Sleeps; cut short when the operation's signal is raised. */
  sleep(delayMs: number): Promise<void>;
}

/** The real effects of one drive. */
export class RealEffects implements Effects {
  readonly #environment: Environment;
  readonly #line: MutationLine;
  readonly #live: DriveState;
  readonly #commits: OperationCommits;
  readonly #clock: Clock;

  constructor(environment: Environment, line: MutationLine, live: DriveState) {
    this.#environment = environment;
    this.#line = line;
    this.#live = live;
    this.#clock = environment.clock;
    this.#commits = new OperationCommits(environment, live);
  }

  commitTransition(
    current: CurrentOperation,
    event: OperationEvent,
    expectation?: CommitExpectation,
  ): Promise<CurrentOperation | undefined> {
    return this.#line.run(() => this.#commits.transition(current, event, expectation));
  }

  commitIntent(current: CurrentOperation, event: OperationEvent): Promise<CurrentOperation | undefined> {
    return this.#line.run(() => this.#commits.intent(current, event));
  }

  commitSettlement(
    current: CurrentOperation,
    key: EffectKey,
    output: SettlementOutput,
  ): Promise<CurrentOperation | undefined> {
    return this.#line.run(() => this.#commits.settlement(current, key, output));
  }

  commitTerminal(current: CurrentOperation, outcome: TerminalOutcome): Promise<LaneLastResult | undefined> {
    return this.#line.run(() => this.#commits.terminal(current, outcome));
  }

  async run(plan: EffectPlan): Promise<EffectOutput> {
    // What gives a deferred job up is started because of a cancellation, everything else only without one.
    const needed = plan.kind === "cancel_deferred" ? "cancel_requested" : "running";
    const { operationId } = plan.operation;
    if (!(await mayStart(this.#environment, this.#line, operationId, needed)))
      return { kind: "not_started", plan };
    const step = this.#startStep(plan);
    if (step === undefined) return this.#start(plan);
    this.#live.spans.step = step;
    try {
      return await inSpan(step, () => this.#start(plan));
    } finally {
      this.#live.spans.step = undefined;
    }
  }

  async #start(plan: EffectPlan): Promise<EffectOutput> {
    switch (plan.kind) {
      case "assistant": {
        const message = await requestAssistant(this.#environment, this.#live, plan);
        return { kind: "assistant", message };
      }
      case "tool": {
        const execution = await this.#execute(plan);
        return { kind: "tool_raw", plan, execution };
      }
      case "summary":
        return {
          kind: "summary",
          message: await requestSummary(this.#environment, this.#live, plan),
        };
      case "deferred":
        return {
          kind: "deferred",
          message: await requestPoll(this.#environment, this.#live, plan),
        };
      case "cancel_deferred":
        await requestCancellation(this.#environment, plan, innermost(this.#live));
        return { kind: "cancel_deferred" };
    }
  }

  async finalizeTool({ plan, execution }: RawToolOutput): Promise<ToolOutput> {
    const { sourceIndex, operation, call } = plan;
    if (execution.kind === "synthetic") return { kind: "tool", sourceIndex, execution };
    const raw = resultOf(this.#environment, call, execution);
    const result = await afterTool(this.#environment, this.#site(operation), call, plan.arguments, raw);
    const finalized = result && ({ kind: "finalized", result } as const);
    return { kind: "tool", sourceIndex, execution: finalized ?? execution };
  }

  beforeRequest(operation: Operation, request: HookedRequest): Promise<AgentHarnessStreamOptions> {
    return beforeRequest(this.#environment, this.#site(operation), request);
  }

  beforeTool(operation: Operation, call: ToolCallContent, cleared: ClearedCall): Promise<Clearance> {
    const tools = this.#live.toolBatch?.tools ?? this.#environment.tools;
    return beforeTool(this.#environment, tools, this.#site(operation), call, cleared);
  }

  async decide(operation: Operation, work: DecisionWork): Promise<StructuralHookDecision | undefined> {
    const name = work.kind === "compaction" ? "before_compaction" : "before_navigation";
    if (!this.#environment.hooks.has(name)) return { kind: "generate" };
    return askDecisionHooks(this.#environment, this.#site(operation), work);
  }

  beforeRunEnd(current: CurrentOperation): Promise<AgentMessage | undefined> {
    return beforeRunEnd(this.#environment, this.#live, this.#site(current.operation), current);
  }

  /** The span of a request; other effects have spans of their own, or none. */
  #startStep(plan: EffectPlan): TelemetrySpan | undefined {
    const within = innermost(this.#live);
    const started = (stepId: string, kind: string, attempt: number) =>
      within.start("pi.harness.step", {
        "pi.harness.step_id": stepId,
        "pi.harness.step_kind": kind,
        "pi.harness.attempt": attempt,
      });
    switch (plan.kind) {
      case "assistant":
        return started(plan.generation.context.stepId, "assistant", plan.generation.attempt);
      case "summary":
        return started(plan.generation.context.taskId, plan.generation.context.kind, plan.generation.attempt);
      case "deferred":
        return started(plan.deferred.stepId, "deferred", plan.deferred.poll);
      case "tool":
      case "cancel_deferred":
        return undefined;
    }
  }

  #site(operation: Operation): HookSite {
    return hookSite(this.#live, operation);
  }

  async #execute(plan: Extract<EffectPlan, { kind: "tool" }>): Promise<ToolExecution> {
    const { operation, batch, call, key } = plan;
    const { lane, operationId: runId } = operation;
    // What is told to start is executed: a cancellation that comes while the application computes comes before both.
    const ready = await readyCall(this.#environment, this.#live, plan);
    if (ready.kind === "synthetic") return ready;
    const { publisher } = this.#environment;
    const turnId = publisher.track(lane).turn?.turnId ?? batch.turnId;
    const told = new CallEvents(publisher, { lane, runId, turnId, call, isRecovered: plan.isReplay });
    this.#live.toldCalls.set(key, told);
    told.start(plan.arguments);
    const span = innermost(this.#live).start("pi.harness.tool", {
      "pi.harness.tool_name": call.name,
      "pi.harness.tool_call_id": call.id,
      "pi.harness.is_replay": plan.isReplay,
    });
    const { signal } = this.#live.controller;
    const work = () => executeTool(ready, plan, signal, (partial) => told.update(partial));
    return inSpan(span, work, ({ kind }) => ({ "pi.harness.is_error": kind !== "returned" }));
  }

  sleep(delayMs: number): Promise<void> {
    const span = innermost(this.#live).start("pi.harness.sleep", { "pi.harness.delay_ms": delayMs });
    return inSpan(span, () => this.#clock.sleep(delayMs, this.#live.controller.signal));
  }
}
