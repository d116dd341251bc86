/**
 * A lane: its calls (spec §5.1). How a call is admitted is in `lane-admission.ts`; how the operation that it begins or
 * goes on with is carried on, in `lane-driver.ts`.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import type {
  AgentMessage,
  ImageContent,
  LaneConfiguration,
  LaneLastResult,
  Model,
  ThinkingLevel,
  Usage,
} from "../model/index.ts";
import { checkLastResult } from "../operation/index.ts";
import type { SessionTree } from "../session/index.ts";
import { cancelOperation } from "./abort.ts";
import {
  acceptPrompt,
  normalizeMessage,
  normalizePrompt,
  type PromptInput,
  reservedError,
} from "./acceptance.ts";
import { hookSite } from "./drive-state.ts";
import type { Environment } from "./environment.ts";
import type { Closed, LaneBusy } from "./errors.ts";
import { LaneAdmission } from "./lane-admission.ts";
import { configurationOf, configure, identityOf } from "./lane-configuration.ts";
import { type LaneInfo, laneInfo } from "./lane-creation.ts";
import { LaneDriver } from "./lane-driver.ts";
import { MutationLine } from "./lane-line.ts";
import { type ActionInfo, ManualGate } from "./manual-drive.ts";
import type {
  AbortResult,
  CancelQueuedResult,
  CompactionResult,
  NavigationResult,
  NextRunResult,
  QueueResult,
  RecordUsageResult,
  ResumeResult,
  RunResult,
  SuspendedOperation,
} from "./outcomes.ts";
import { commitOutside } from "./outside-commit.ts";
import { queueForNextRun, queueInput, withdraw } from "./queues.ts";
import { adjustment, type RecordUsageOptions } from "./record-usage.ts";
import { expandSkill, expandTemplate } from "./resources.ts";
import { type BeforeRunOutput, beforeRun } from "./run-hooks.ts";
import {
  admitCompaction,
  admitNavigation,
  type CompactOptions,
  type NavigateOptions,
  type StructuralCall,
} from "./structural-acceptance.ts";
import { type LaneSnapshot, type WatchHandle, watchLane } from "./watch.ts";

/** See the module header. */
export class HarnessLane {
  readonly name: string;
  /** The session tree as this lane sees it. */
  readonly session: SessionTree;
  readonly #environment: Environment;
  readonly #line = new MutationLine();
  /** Undefined with automatic drive. */
  readonly #gate: ManualGate | undefined;
  readonly #driver: LaneDriver;
  readonly #admission: LaneAdmission;

  constructor(
    environment: Environment,
    name: string,
    mode: "automatic" | "manual",
    suspended?: SuspendedOperation,
  ) {
    this.name = name;
    this.session = environment.session.view(name);
    this.#environment = environment;
    this.#gate = mode === "manual" ? new ManualGate(environment.lifecycle) : undefined;
    const lane = { environment, name, line: this.#line, gate: this.#gate };
    const onEnd = () => this.#admission.idleness.changed();
    this.#driver = new LaneDriver({ ...lane, onEnd }, suspended);
    this.#admission = new LaneAdmission({
      ...lane,
      isDriving: () => this.#driver.isDriving,
      afterOvertaken: (job) => this.#driver.afterOvertaken(job),
    });
  }

  /** Accepts a run and resolves with its outcome. */
  prompt(text: string, images?: readonly ImageContent[]): Promise<RunResult>;
  prompt(message: AgentMessage | readonly AgentMessage[]): Promise<RunResult>;
  prompt(input: PromptInput, images: readonly ImageContent[] = []): Promise<RunResult> {
    return this.#admission.call(async (): Promise<RunResult> => {
      const environment = this.#environment;
      const messages = normalizePrompt(environment, this.name, input, images);
      if (!messages.ok) return messages;
      const operationId = environment.session.idGenerator.next();
      // Where there is nothing to wait for, the call has its place on the line at once.
      const isHooked = environment.hooks.has("before_run");
      const before = isHooked ? await this.#beforeRun(operationId, messages.value) : NOTHING_INJECTED;
      if (!before.ok) return before;
      const accepted = await this.#admission.admitBegin(async () => {
        const { heldFor } = this.#admission.reservation;
        if (heldFor) return err(reservedError(this.name, heldFor));
        const result = await acceptPrompt(environment, this.name, operationId, messages.value, before.value);
        return result.ok ? ok(this.#driver.begin(result.value)) : result;
      });
      if (!accepted.ok) return accepted;
      return this.#driver.outcomeOf("run", accepted.value);
    });
  }

  /** Prompts with a skill of the resources, and what is to be said after it. */
  async skill(name: string, additionalInstructions?: string): Promise<RunResult> {
    const text = expandSkill(this.#environment.resources, name, additionalInstructions);
    return text.ok ? this.prompt(text.value) : text;
  }

  /** Prompts with a template of the resources and its arguments. */
  async promptFromTemplate(name: string, args?: readonly string[]): Promise<RunResult> {
    const text = expandTemplate(this.#environment.resources, name, args);
    return text.ok ? this.prompt(text.value) : text;
  }

  /** Compacts the context of an idle lane and resolves with the outcome. */
  compact(options: CompactOptions = {}): Promise<CompactionResult> {
    return this.#admission.call(async (): Promise<CompactionResult> => {
      const accepted = await this.#admission.guarded(() =>
        admitCompaction(this.#structuralCall(), options, (current) => this.#driver.begin(current)),
      );
      return accepted.ok ? this.#driver.outcomeOf("compaction", accepted.value) : accepted;
    });
  }

  /** Moves the leaf of an idle lane, `null` to the root, and resolves with the outcome. */
  navigateTree(targetId: string | null, options: NavigateOptions = {}): Promise<NavigationResult> {
    return this.#admission.call(async (): Promise<NavigationResult> => {
      const accepted = await this.#admission.guarded(() =>
        admitNavigation(this.#structuralCall(), targetId, options, (current) => this.#driver.begin(current)),
      );
      return accepted.ok ? this.#driver.outcomeOf("navigation", accepted.value) : accepted;
    });
  }

  /** Goes on with the open operation of the lane, wherever its state stands. */
  resume(): Promise<ResumeResult> {
    return this.#admission.call(async (): Promise<ResumeResult> => {
      const admitted = await this.#admission.admitBegin(() => this.#driver.admitResume());
      return admitted.ok ? ok(await this.#driver.untilOutcome(admitted.value)) : admitted;
    });
  }

  /** Queues input for the open run: it is placed at the next checkpoint, before the next request. */
  steer(message: string | AgentMessage, images: readonly ImageContent[] = []): Promise<QueueResult> {
    return this.#queue("steer", message, images);
  }

  /** Queues input for the open run: it is placed when the run would end, which then goes on. */
  followUp(message: string | AgentMessage, images: readonly ImageContent[] = []): Promise<QueueResult> {
    return this.#queue("followUp", message, images);
  }

  /** Queues input for the next run, which is accepted with it. Starts none. */
  nextRun(message: string | AgentMessage, images: readonly ImageContent[] = []): Promise<NextRunResult> {
    return this.#admission.call(async (): Promise<NextRunResult> => {
      const admitted = normalizeMessage(this.#environment, this.name, message, images);
      if (!admitted.ok) return admitted;
      return this.#admission.admit(async () => {
        return ok({ entryId: await queueForNextRun(this.#environment, this.name, admitted.value) });
      });
    });
  }

  /**
   * Cancels the open operation. Resolves once the cancellation is durable and the signal is raised; what is owed is
   * settled in the background, and the operation ends as aborted. Every further call answers the same.
   */
  abort(): Promise<AbortResult> {
    return this.#admission.call(() =>
      this.#admission.admit(async (): Promise<AbortResult> => {
        const cancelled = await cancelOperation(this.#environment, this.name);
        if (!cancelled.ok) return cancelled;
        const { current, isFirst, steer, followUp } = cancelled.value;
        if (isFirst) this.#driver.reconcile(current);
        return ok({ runId: current.operation.operationId, steer, followUp });
      }),
    );
  }

  /** Takes a queued item back. What is placed already stays. */
  cancelQueued(entryId: string): Promise<CancelQueuedResult> {
    return this.#admission.call(() =>
      this.#admission.admit(async () => ok({ kind: await withdraw(this.#environment, this.name, entryId) })),
    );
  }

  /** Books usage that the caller reconciles; see `record-usage.ts`. */
  recordUsage(usage: Usage, options: RecordUsageOptions = {}): Promise<RecordUsageResult> {
    return this.#admission.call(async (): Promise<RecordUsageResult> => {
      const environment = this.#environment;
      const row = await this.#admission.guarded(() => adjustment(environment, this.name, usage, options));
      if (!row.ok) return row;
      return this.#admission.admit(async () => {
        const writes = [{ kind: "usage", row: row.value } as const];
        await commitOutside(this.#environment, { writes }, this.name);
        return ok({ usageId: row.value.id });
      });
    });
  }

  /** The model, or undefined while the registry does not know it. */
  async getModel(): Promise<Model | undefined> {
    const { model } = await configurationOf(this.#environment, this.name);
    return this.#environment.models.getModel(model.provider, model.modelId);
  }

  /** For generations that start from now on, like the setters after it. */
  setModel(model: Model): Promise<void> {
    return this.#configure({ model: identityOf(model) });
  }

  async getThinkingLevel(): Promise<ThinkingLevel> {
    return (await configurationOf(this.#environment, this.name)).thinkingLevel;
  }

  setThinkingLevel(thinkingLevel: ThinkingLevel): Promise<void> {
    return this.#configure({ thinkingLevel });
  }

  async getActiveTools(): Promise<string[]> {
    return [...(await configurationOf(this.#environment, this.name)).activeToolNames];
  }

  setActiveTools(names: readonly string[]): Promise<void> {
    return this.#configure({ activeToolNames: [...names] });
  }

  /** A snapshot of the lane, and everything after it. */
  watch(): Promise<WatchHandle<LaneSnapshot>> {
    return this.#readOnLine(async () => {
      await this.#driver.noticeEnd();
      return watchLane(this.#environment, this.name, () => this.suspendedOperation);
    });
  }

  /** What the lane is doing. */
  async info(): Promise<LaneInfo> {
    if (this.suspendedOperation !== undefined) await this.#readOnLine(() => this.#driver.noticeEnd());
    return laneInfo(this.#environment, this.name);
  }

  /** The open operation while nobody drives it in this process. */
  get suspendedOperation(): SuspendedOperation | undefined {
    return this.#driver.suspendedOperation;
  }

  /** Resolves when the lane runs nothing and nothing is about to. Another operation may begin right after it. */
  async waitForIdle(): Promise<void> {
    this.#environment.lifecycle.admit();
    await this.#admission.idleness.wait();
  }

  /**
   * Runs the callback while the lane is idle, and keeps it so: what would begin an operation or move the leaf waits for
   * the callback, which therefore must not wait for such a call of this lane. Rejects as the callback does.
   */
  async runWhenIdle(callback: () => void | Promise<void>): Promise<void> {
    this.#environment.lifecycle.admit();
    await this.#admission.idleness.hold(callback);
  }

  async getLeafId(): Promise<string | null> {
    const { lifecycle, session } = this.#environment;
    const leaf = await lifecycle.reading(() => session.getRegister("lane.leaf", this.name));
    return leaf?.value ?? null;
  }

  /** How the latest operation of the lane ended; also what a caller reads whose promise died with its process. */
  async getLastResult(): Promise<LaneLastResult | undefined> {
    const { lifecycle, session } = this.#environment;
    const register = await lifecycle.reading(() => session.getRegister("lane.lastResult", this.name));
    return register && checkLastResult(this.name, register.value);
  }

  /** Runs a job on the mutation line of this lane. For what a lane does besides its operations. */
  onLine<T>(job: () => Promise<T>): Promise<T> {
    return this.#line.run(job);
  }

  /** As `onLine`, for jobs that may move the leaf: they wait until the lane is not reserved. */
  onUnreservedLine<T>(job: () => Promise<T>): Promise<T> {
    return this.#admission.onUnreservedLine(job);
  }

  /** Manual drive: the next action, or undefined when there is none. Has no effect. */
  peekAction(): Promise<ActionInfo | undefined> {
    return this.#manual().peek();
  }

  /** Manual drive: executes the next action. */
  executeAction(): Promise<ActionInfo | undefined> {
    return this.#manual().execute();
  }

  /** Manual drive: executes actions until there are none. */
  async runToCompletion(): Promise<void> {
    const gate = this.#manual();
    while (await gate.execute());
  }

  #queue(
    queue: "steer" | "followUp",
    message: string | AgentMessage,
    images: readonly ImageContent[],
  ): Promise<QueueResult> {
    return this.#admission.call(async (): Promise<QueueResult> => {
      const admitted = normalizeMessage(this.#environment, this.name, message, images);
      if (!admitted.ok) return admitted;
      return this.#admission.admit(() => queueInput(this.#environment, this.name, queue, admitted.value));
    });
  }

  /** Asks the hooks before a run is accepted. Of a lane that is taken they are not asked. */
  async #beforeRun(
    operationId: string,
    prompt: readonly AgentMessage[],
  ): Promise<Result<BeforeRunOutput, LaneBusy | Closed>> {
    const environment = this.#environment;
    const site = hookSite(
      {
        passHook: this.#driver.parkHook,
        spans: { operation: environment.telemetry, turn: undefined, step: undefined },
      },
      { lane: this.name, operationId },
    );
    return this.#admission.guarded(async (): Promise<Result<BeforeRunOutput, LaneBusy>> => {
      const taken = await this.#admission.refusal();
      if (taken) return err(taken);
      return ok(await environment.lifecycle.untilEnd(beforeRun(environment, site, prompt)));
    });
  }

  /** A job of the mutation line that writes nothing. */
  #readOnLine<T>(job: () => Promise<T>): Promise<T> {
    return this.#line.run(() => this.#environment.lifecycle.reading(job));
  }

  #configure(change: Partial<LaneConfiguration>): Promise<void> {
    return this.#line.run(() => configure(this.#environment, this.name, change));
  }

  #structuralCall(): StructuralCall {
    const { session } = this.#environment;
    return {
      environment: this.#environment,
      lane: this.name,
      operationId: session.idGenerator.next(),
      reservation: this.#admission.reservation,
      admit: (job) => this.#admission.onLineToBegin(job),
    };
  }

  #manual(): ManualGate {
    if (this.#gate) return this.#gate;
    throw new TypeError('the harness drives itself; create it with drive: "manual" to step through actions');
  }
}

const NOTHING_INJECTED = ok<BeforeRunOutput>({ injected: [] });
