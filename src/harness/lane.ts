/**
 * A lane: its calls, its mutation line, and the drive of its operation (spec §5.1).
 *
 * A call has two halves. *Admission* is judged on the mutation line and either refuses with a `Result` error, having
 * written nothing, or accepts. From then on the call belongs to an operation: it resolves with the operation's
 * outcome, and rejects only if the harness is closed or faulted, while the operation stays in the store.
 *
 * At most one drive runs per lane. It is set inside the job that admits it, so that no second one can slip in.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import type {
  AgentMessage,
  ImageContent,
  LaneConfiguration,
  LaneLastResult,
  Model,
  OperationKind,
  ThinkingLevel,
  Usage,
} from "../model/index.ts";
import { type CurrentOperation, checkLastResult, nextAction } from "../operation/index.ts";
import { laneStateOf, type SessionTree } from "../session/index.ts";
import { cancelOperation } from "./abort.ts";
import {
  acceptPrompt,
  busy,
  missingError,
  normalizeMessage,
  normalizePrompt,
  type PromptInput,
  reservedError,
} from "./acceptance.ts";
import { turnIdOf } from "./commit-events.ts";
import { cancelSource, isPolling } from "./deferred-steps.ts";
import {
  type DriveState,
  followTurn,
  type HookPass,
  hookSite,
  newDriveState,
  type StructuralMemory,
} from "./drive-state.ts";
import { createDriveView } from "./drive-view.ts";
import { type Effects, RealEffects } from "./effects.ts";
import type { Environment } from "./environment.ts";
import { Closed, HarnessClosed, type LaneBusy, type MissingIdentities, NothingToResume } from "./errors.ts";
import { Idleness } from "./idle.ts";
import { type DriveView, drive } from "./interpreter.ts";
import { configurationOf, configure, identityOf } from "./lane-configuration.ts";
import { MutationLine } from "./lane-line.ts";
import { type ActionInfo, gated, ManualGate } from "./manual-drive.ts";
import { operationOutcome } from "./operation-outcome.ts";
import type {
  AbortResult,
  CancelQueuedResult,
  CompactionOutcome,
  CompactionResult,
  NavigationOutcome,
  NavigationResult,
  NextRunResult,
  QueueResult,
  RecordUsageResult,
  ResumeOutcome,
  ResumeResult,
  RunOutcome,
  RunResult,
  SuspendedOperation,
} from "./outcomes.ts";
import { commitOutside } from "./outside-commit.ts";
import { queueForNextRun, queueInput, withdraw } from "./queues.ts";
import { adjustment, type RecordUsageOptions } from "./record-usage.ts";
import { Reservation } from "./reservation.ts";
import { expandSkill, expandTemplate } from "./resources.ts";
import { readCurrent } from "./restore.ts";
import { type BeforeRunOutput, beforeResume, beforeRun } from "./run-hooks.ts";
import {
  admitCompaction,
  admitNavigation,
  type CompactOptions,
  type NavigateOptions,
  type StructuralCall,
} from "./structural-acceptance.ts";
import { suspension } from "./suspended.ts";
import { type LaneSnapshot, type WatchHandle, watchLane } from "./watch.ts";

/** An operation that was accepted, and the drive that is to take it to its end. */
interface Begun {
  readonly current: CurrentOperation;
  readonly live: DriveState;
  /** By a call of the application, so that its hooks are asked first. */
  readonly isResumed?: true;
}

interface Outcomes {
  readonly run: RunOutcome;
  readonly compaction: CompactionOutcome;
  readonly navigation: NavigationOutcome;
}

/** See the module header. */
export class HarnessLane {
  readonly name: string;
  /** The session tree as this lane sees it. */
  readonly session: SessionTree;
  readonly #environment: Environment;
  readonly #line = new MutationLine();
  /** Undefined with automatic drive. */
  readonly #gate: ManualGate | undefined;
  readonly #view: DriveView;
  readonly #reservation = new Reservation(() => this.#idleness.changed());
  readonly #idleness: Idleness;
  #driving: Begun | undefined;
  /** The open operation while nobody drives it here: as it was found, or as it was suspended. */
  #suspended: SuspendedOperation | undefined;
  /** What the latest drive knew of its structural work: one that was suspended goes on with it. */
  #structural: StructuralMemory | undefined;

  constructor(
    environment: Environment,
    name: string,
    mode: "automatic" | "manual",
    suspended?: SuspendedOperation,
  ) {
    this.name = name;
    this.session = environment.session.view(name);
    this.#suspended = suspended;
    this.#environment = environment;
    this.#gate = mode === "manual" ? new ManualGate(environment.lifecycle) : undefined;
    this.#view = createDriveView(environment);
    this.#idleness = new Idleness({
      isIdle: () => this.#isIdle(),
      onLine: (job) => this.#line.run(job),
      lifecycle: environment.lifecycle,
    });
  }

  /** Accepts a run and resolves with its outcome. */
  prompt(text: string, images?: readonly ImageContent[]): Promise<RunResult>;
  prompt(message: AgentMessage | readonly AgentMessage[]): Promise<RunResult>;
  prompt(input: PromptInput, images: readonly ImageContent[] = []): Promise<RunResult> {
    return this.#call(async (): Promise<RunResult> => {
      const environment = this.#environment;
      const messages = normalizePrompt(environment, this.name, input, images);
      if (!messages.ok) return messages;
      const operationId = environment.session.idGenerator.next();
      // Where there is nothing to wait for, the call has its place on the line at once.
      const isHooked = environment.hooks.has("before_run");
      const before = isHooked ? await this.#beforeRun(operationId, messages.value) : NOTHING_INJECTED;
      if (!before.ok) return before;
      const accepted = await this.#admitBegin(async () => {
        const { heldFor } = this.#reservation;
        if (heldFor) return err(reservedError(this.name, heldFor));
        const result = await acceptPrompt(environment, this.name, operationId, messages.value, before.value);
        return result.ok ? ok(this.#begin(result.value)) : result;
      });
      if (!accepted.ok) return accepted;
      return this.#outcomeOf("run", accepted.value);
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
    return this.#call(async (): Promise<CompactionResult> => {
      const accepted = await this.#guarded(() =>
        admitCompaction(this.#structuralCall(), options, (current) => this.#begin(current)),
      );
      return accepted.ok ? this.#outcomeOf("compaction", accepted.value) : accepted;
    });
  }

  /** Moves the leaf of an idle lane, `null` to the root, and resolves with the outcome. */
  navigateTree(targetId: string | null, options: NavigateOptions = {}): Promise<NavigationResult> {
    return this.#call(async (): Promise<NavigationResult> => {
      const accepted = await this.#guarded(() =>
        admitNavigation(this.#structuralCall(), targetId, options, (current) => this.#begin(current)),
      );
      return accepted.ok ? this.#outcomeOf("navigation", accepted.value) : accepted;
    });
  }

  /** Goes on with the open operation of the lane, wherever its state stands. */
  resume(): Promise<ResumeResult> {
    return this.#call(async (): Promise<ResumeResult> => {
      const admitted = await this.#admitBegin(() => this.#admitResume());
      return admitted.ok ? ok(await this.#untilOutcome(admitted.value)) : admitted;
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
    return this.#call(async (): Promise<NextRunResult> => {
      const admitted = normalizeMessage(this.#environment, this.name, message, images);
      if (!admitted.ok) return admitted;
      return this.#admit(async () => {
        return ok({ entryId: await queueForNextRun(this.#environment, this.name, admitted.value) });
      });
    });
  }

  /**
   * Cancels the open operation. Resolves once the cancellation is durable and the signal is raised; what is owed is
   * settled in the background, and the operation ends as aborted. Every further call answers the same.
   */
  abort(): Promise<AbortResult> {
    return this.#call(() =>
      this.#admit(async (): Promise<AbortResult> => {
        const cancelled = await cancelOperation(this.#environment, this.name);
        if (!cancelled.ok) return cancelled;
        const { current, isFirst, steer, followUp } = cancelled.value;
        if (isFirst) this.#reconcile(current);
        return ok({ runId: current.operation.operationId, steer, followUp });
      }),
    );
  }

  /** Takes a queued item back. What is placed already stays. */
  cancelQueued(entryId: string): Promise<CancelQueuedResult> {
    return this.#call(() =>
      this.#admit(async () => ok({ kind: await withdraw(this.#environment, this.name, entryId) })),
    );
  }

  /** Books usage that the caller reconciles; see `record-usage.ts`. */
  recordUsage(usage: Usage, options: RecordUsageOptions = {}): Promise<RecordUsageResult> {
    return this.#call(async (): Promise<RecordUsageResult> => {
      const row = await adjustment(this.#environment, usage, options);
      return this.#admit(async () => {
        await commitOutside(this.#environment, { writes: [{ kind: "usage", row }] });
        return ok({ usageId: row.id });
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
    return this.#line.run(() => watchLane(this.#environment, this.name, () => this.suspendedOperation));
  }

  /** The open operation while nobody drives it in this process. */
  get suspendedOperation(): SuspendedOperation | undefined {
    return this.#driving ? undefined : this.#suspended;
  }

  /** Resolves when the lane runs nothing and nothing is about to. Another operation may begin right after it. */
  async waitForIdle(): Promise<void> {
    this.#environment.lifecycle.admit();
    await this.#idleness.wait();
  }

  /**
   * Runs the callback while the lane is idle, and keeps it so: what would begin an operation or move the leaf waits for
   * the callback, which therefore must not wait for such a call of this lane. Rejects as the callback does.
   */
  async runWhenIdle(callback: () => void | Promise<void>): Promise<void> {
    this.#environment.lifecycle.admit();
    await this.#idleness.hold(callback);
  }

  async getLeafId(): Promise<string | null> {
    this.#environment.lifecycle.admit();
    const leaf = await this.#environment.session.getRegister("lane.leaf", this.name);
    return leaf?.value ?? null;
  }

  /** How the latest operation of the lane ended; also what a caller reads whose promise died with its process. */
  async getLastResult(): Promise<LaneLastResult | undefined> {
    this.#environment.lifecycle.admit();
    const register = await this.#environment.session.getRegister("lane.lastResult", this.name);
    return register && checkLastResult(this.name, register.value);
  }

  /** Runs a job on the mutation line of this lane. For what a lane does besides its operations. */
  onLine<T>(job: () => Promise<T>): Promise<T> {
    return this.#line.run(job);
  }

  /** As `onLine`, for jobs that may move the leaf: they wait until the lane is not reserved. */
  async onUnreservedLine<T>(job: () => Promise<T>): Promise<T> {
    for (;;) {
      const done = await this.#onFreeLine(async () =>
        this.#reservation.heldFor ? undefined : { result: await job() },
      );
      if (done) return done.result;
      await this.#reservation.released();
    }
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
    return this.#call(async (): Promise<QueueResult> => {
      const admitted = normalizeMessage(this.#environment, this.name, message, images);
      if (!admitted.ok) return admitted;
      return this.#admit(() => queueInput(this.#environment, this.name, queue, admitted.value));
    });
  }

  async #admitResume(): Promise<Result<Begun, LaneBusy | NothingToResume | MissingIdentities>> {
    const environment = this.#environment;
    environment.lifecycle.admit();
    const laneState = await environment.session.getRegister("lane.state", this.name);
    const operationId = laneState?.value.currentOperationId ?? null;
    if (operationId === null) {
      const message = `lane ${this.name} has no open operation; getLastResult tells how the latest one ended`;
      return err(new NothingToResume({ message, lane: this.name }));
    }
    if (this.#driving) return err(await busy(environment, this.name, operationId));
    const current = await readCurrent(environment.session, this.name, operationId);
    if (current === undefined) throw new Error(`operation ${operationId} vanished on the mutation line`);
    const live = newDriveState(1, this.#structural);
    const action = nextAction(current.state, await this.#view.plannerInputs(current, live));
    if (action.kind === "suspend" && action.reason === "missing_identities") {
      return err(missingError(this.name, action.missing));
    }
    environment.publisher.resumed(this.name);
    return ok({ ...this.#begin(current, live), isResumed: true });
  }

  /** Stops what runs; an operation that nobody drives is driven to its end by the lane itself. */
  #reconcile(current: CurrentOperation): void {
    if (this.#driving) {
      this.#driving.live.controller.abort();
      this.#gate?.takeBack();
      // Its poll is awaited, and when that is settled the state does not name the source any more.
      if (isPolling(current)) this.#cancelSource(current, this.#driving.live);
      return;
    }
    this.#environment.publisher.takenUp(this.name);
    const begun = this.#begin(current);
    begun.live.controller.abort();
    const toTheEnd = () => this.#untilOutcome(begun);
    // Its failure faults the harness, and that is how everybody learns of it.
    (this.#gate?.during(toTheEnd) ?? toTheEnd()).catch(() => undefined);
  }

  /** Asks the hooks before a run is accepted. Of a lane that is taken they are not asked. */
  async #beforeRun(
    operationId: string,
    prompt: readonly AgentMessage[],
  ): Promise<Result<BeforeRunOutput, LaneBusy | Closed>> {
    const environment = this.#environment;
    const site = hookSite(
      {
        passHook: this.#passHook,
        spans: { operation: environment.telemetry, turn: undefined, step: undefined },
      },
      { lane: this.name, operationId },
    );
    return this.#guarded(async (): Promise<Result<BeforeRunOutput, LaneBusy>> => {
      const { heldFor } = this.#reservation;
      if (heldFor) return err(reservedError(this.name, heldFor));
      const { currentOperationId } = await laneStateOf(environment.session, this.name);
      if (currentOperationId !== null) return err(await busy(environment, this.name, currentOperationId));
      return ok(await environment.lifecycle.untilEnd(beforeRun(environment, site, prompt)));
    });
  }

  /** Hooks park where effects do. */
  readonly #passHook: HookPass = (name, runId, run) => {
    if (this.#gate === undefined) return run();
    const info = {
      kind: "hook",
      description: `ask the hooks ${name}`,
      details: { hook: name, operationId: runId },
    };
    return this.#gate.pass(info, run);
  };

  #cancelSource(current: CurrentOperation, live: DriveState): void {
    const { provider, modelId } = current.configuration.model;
    const isKnown = this.#environment.models.getModel(provider, modelId) !== undefined;
    if (isKnown) cancelSource(this.#effectsOf(live), current, live);
  }

  /** The effects of a drive, behind the gate if there is one. */
  #effectsOf(live: DriveState): Effects {
    live.passHook = this.#passHook;
    const real = new RealEffects(this.#environment, this.#line, live);
    return this.#gate ? gated(real, this.#gate) : real;
  }

  #configure(change: Partial<LaneConfiguration>): Promise<void> {
    return this.#line.run(() => configure(this.#environment, this.name, change));
  }

  /** A job that waits while a callback has the lane to itself. */
  async #onFreeLine<T>(job: () => Promise<T>): Promise<T> {
    for (;;) {
      const done = await this.#line.run(async () =>
        this.#idleness.isHeld ? undefined : { result: await job() },
      );
      this.#idleness.changed();
      if (done) return done.result;
      await this.#idleness.released();
    }
  }

  /**
   * Before another operation may begin: if the one that is driven was ended from outside, its drive is told, with its
   * result, which the next operation would overwrite.
   */
  async #afterOvertaken<T>(job: () => Promise<T>): Promise<T> {
    const { session, publisher } = this.#environment;
    if (this.#driving) {
      const { current, live } = this.#driving;
      const laneState = await session.getRegister("lane.state", this.name);
      if (laneState?.value.currentOperationId !== current.operation.operationId) {
        const last = (await session.getRegister("lane.lastResult", this.name))?.value;
        if (last !== undefined && live.endedFromOutside === undefined) {
          live.endedFromOutside = checkLastResult(this.name, last);
          publisher.endedElsewhere(this.name, live.endedFromOutside);
        }
        live.controller.abort();
      }
    }
    return job();
  }

  async #isIdle(): Promise<boolean> {
    if (this.#driving || this.#reservation.heldFor) return false;
    const laneState = await this.#environment.session.getRegister("lane.state", this.name);
    return laneState?.value.currentOperationId === null;
  }

  /** Sets the one drive of the lane. */
  #begin(current: CurrentOperation, live = newDriveState(0)): Begun {
    this.#driving = { current, live };
    return this.#driving;
  }

  #structuralCall(): StructuralCall {
    const { session } = this.#environment;
    return {
      environment: this.#environment,
      lane: this.name,
      operationId: session.idGenerator.next(),
      reservation: this.#reservation,
      admit: (job) => this.#onFreeLine(() => this.#afterOvertaken(job)),
    };
  }

  /** The outcome of an operation whose kind is known, as its own call answers it. */
  async #outcomeOf<Kind extends OperationKind>(
    kind: Kind,
    begun: Begun,
  ): Promise<Result<{ runId: string } & Outcomes[Kind], never>> {
    const { operation, ...rest } = await this.#untilOutcome(begun);
    if (operation !== kind) throw new Error(`a ${kind} was accepted, and a ${operation} was driven`);
    return ok(rest as { runId: string } & Outcomes[Kind]);
  }

  /** Drives an accepted operation; settles early if the harness ends. */
  #untilOutcome(begun: Begun): Promise<ResumeOutcome> {
    return this.#environment.lifecycle.untilEnd(this.#drive(begun));
  }

  async #drive({ current, live, isResumed }: Begun): Promise<ResumeOutcome> {
    const { lifecycle, session } = this.#environment;
    const stopListening = lifecycle.onEnd(() => live.controller.abort());
    const { operationId, intent } = current.operation;
    const span = this.#environment.telemetry.start(`pi.harness.${intent.kind}`, {
      "pi.harness.lane": this.name,
      "pi.harness.operation_id": operationId,
      "pi.harness.is_resumed": isResumed === true,
    });
    live.spans.operation = span;
    followTurn(live, turnIdOf(current.state));
    try {
      const fx = this.#effectsOf(live);
      if (isResumed && current.state.control.status === "running") {
        await beforeResume(this.#environment, hookSite(live, current.operation), current.operation);
      }
      const end = await drive(fx, this.#view, current, live);
      followTurn(live, undefined);
      span.end({ "pi.harness.outcome": end.kind === "finished" ? end.result.outcome : end.kind });
      this.#suspended = await suspension(this.#environment, this.name, end);
      return await operationOutcome(session, live, current, end);
    } catch (error) {
      throw lifecycle.fault(error);
    } finally {
      followTurn(live, undefined);
      span.end();
      stopListening();
      // An operation that was ended from outside leaves effects behind that nobody will settle.
      if (live.running.size > 0) live.controller.abort();
      if (this.#driving?.live === live) this.#driving = undefined;
      this.#structural = live.structural;
      this.#idleness.changed();
    }
  }

  /** A call of the lane: refused with `Closed` once the harness is closed, rejected once it is faulted. */
  async #call<T, E>(call: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    const { lifecycle } = this.#environment;
    if (lifecycle.end instanceof HarnessClosed) return err(closed());
    lifecycle.admit();
    return this.#gate ? this.#gate.during(call) : call();
  }

  /** The first half of a call, on the mutation line. */
  #admit<T, E>(admission: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    return this.#guarded(() => this.#line.run(admission));
  }

  /** As `#admit`, for a call that begins to drive. */
  #admitBegin<T, E>(admission: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    return this.#guarded(() => this.#onFreeLine(() => this.#afterOvertaken(admission)));
  }

  /** Work before acceptance. A close that comes before its end refuses the call. */
  async #guarded<T, E>(work: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    const { lifecycle } = this.#environment;
    try {
      return await work();
    } catch (error) {
      const end = lifecycle.fault(error);
      if (end instanceof HarnessClosed) return err(closed());
      throw end;
    } finally {
      this.#idleness.changed();
    }
  }

  #manual(): ManualGate {
    if (this.#gate) return this.#gate;
    throw new TypeError('the harness drives itself; create it with drive: "manual" to step through actions');
  }
}

const NOTHING_INJECTED = ok<BeforeRunOutput>({ injected: [] });

function closed(): Closed {
  return new Closed({ message: "the harness is closed; open the session again" });
}
