/**
 * The drive of a lane: its open operation, carried on by this process (spec §4.1).
 *
 * 1. At most one drive runs per lane. It is set inside the job that admits it, so that no second one can slip in.
 * 2. A drive ends when its operation ends or waits, or when the harness ends; the operation stays in the store then.
 * 3. An operation that was ended from outside is told of before the next one begins, and, where nobody drives it, before the
 *    lane is shown (spec §4.9, §5.4). A drive finds out by itself, and is shown as running until it has.
 * 4. A drive leaves its operation open in a job of the mutation line: a cancellation that comes first is carried out by it,
 *    one that comes later finds nobody driving and begins a drive of its own (spec §4.6).
 */
import { err, ok, type Result } from "../foundation/index.ts";
import type { OperationKind } from "../model/index.ts";
import {
  type CurrentOperation,
  capturedConfiguration,
  checkLastResult,
  nextAction,
} from "../operation/index.ts";
import { busy, missingError } from "./acceptance.ts";
import { turnIdOf } from "./commit-events.ts";
import { cancelSource, isPolling } from "./deferred-steps.ts";
import { mayStart } from "./dispatch.ts";
import {
  type DriveState,
  followTurn,
  type HookPass,
  hookSite,
  newDriveState,
  type StructuralMemory,
  spanNow,
} from "./drive-state.ts";
import { createDriveView } from "./drive-view.ts";
import { type Effects, RealEffects } from "./effects.ts";
import type { Environment } from "./environment.ts";
import { type LaneBusy, type MissingIdentities, NothingToResume } from "./errors.ts";
import { type DriveEnd, type DriveView, drive } from "./interpreter.ts";
import type { MutationLine } from "./lane-line.ts";
import { gated, type ManualGate } from "./manual-drive.ts";
import { operationOutcome } from "./operation-outcome.ts";
import type {
  CompactionOutcome,
  NavigationOutcome,
  ResumeOutcome,
  RunOutcome,
  SuspendedOperation,
} from "./outcomes.ts";
import { readCurrent } from "./restore.ts";
import { beforeResume } from "./run-hooks.ts";
import { suspension, tellEndedElsewhere } from "./suspended.ts";

/** An operation that was accepted, and the drive that is to take it to its end. */
export interface Begun {
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

/** Which lane is driven, and how. */
export interface DrivenLane {
  readonly environment: Environment;
  readonly name: string;
  readonly line: MutationLine;
  /** Undefined with automatic drive. */
  readonly gate: ManualGate | undefined;
  /** Told after each drive: the lane may be idle. */
  readonly onEnd: () => void;
}

/** See the module header. */
export class LaneDriver {
  readonly #lane: DrivenLane;
  readonly #environment: Environment;
  /** What a drive may look at. */
  readonly #view: DriveView;
  #driving: Begun | undefined;
  /** The open operation while nobody drives it here: as it was found, or as it was suspended. */
  #suspended: SuspendedOperation | undefined;
  /** What the latest drive knew of its structural work: one that was suspended goes on with it. */
  #structural: StructuralMemory | undefined;

  constructor(lane: DrivenLane, suspended: SuspendedOperation | undefined) {
    this.#lane = lane;
    this.#environment = lane.environment;
    this.#suspended = suspended;
    this.#view = createDriveView(lane.environment);
  }

  get isDriving(): boolean {
    return this.#driving !== undefined;
  }

  /** The open operation while nobody drives it in this process. */
  get suspendedOperation(): SuspendedOperation | undefined {
    return this.#driving ? undefined : this.#suspended;
  }

  /** Hooks park where effects do. */
  readonly parkHook: HookPass = (name, runId, run, notStarted) => {
    const { gate } = this.#lane;
    if (gate === undefined) return run();
    const info = {
      kind: "hook",
      description: `ask the hooks ${name}`,
      details: { hook: name, operationId: runId },
    };
    return gate.pass(info, run, () => notStarted);
  };

  /** Hooks of an operation start where effects do, too. */
  readonly #passHook: HookPass = (name, runId, run, notStarted) => {
    const { line } = this.#lane;
    const start = async () => ((await mayStart(this.#environment, line, runId)) ? run() : notStarted);
    return this.parkHook(name, runId, start, notStarted);
  };

  /** Sets the one drive of the lane. */
  begin(current: CurrentOperation, live = newDriveState(0)): Begun {
    this.#suspended = undefined;
    this.#driving = { current, live };
    return this.#driving;
  }

  /** Goes on with the open operation, if it can be. Called on the mutation line; a drive that resumes may poll once. */
  async admitResume(): Promise<Result<Begun, LaneBusy | NothingToResume | MissingIdentities>> {
    const environment = this.#environment;
    const { name } = this.#lane;
    environment.lifecycle.admit();
    const laneState = await environment.session.getRegister("lane.state", name);
    const operationId = laneState?.value.currentOperationId ?? null;
    if (operationId === null) {
      const message = `lane ${name} has no open operation; getLastResult tells how the latest one ended`;
      return err(new NothingToResume({ message, lane: name }));
    }
    if (this.#driving) return err(await busy(environment, name, operationId));
    const current = await readCurrent(environment.session, name, operationId);
    if (current === undefined) throw new Error(`operation ${operationId} vanished on the mutation line`);
    const live = newDriveState(1, this.#structural);
    const action = nextAction(current.state, await this.#view.plannerInputs(current, live));
    if (action.kind === "suspend" && action.reason === "missing_identities") {
      return err(missingError(name, action.missing));
    }
    environment.publisher.resumed(name);
    return ok({ ...this.begin(current, live), isResumed: true });
  }

  /**
   * Before another operation may begin: if the one that is known was ended from outside, that is told, and to its drive, if
   * it has one, with its result, which the next operation would overwrite.
   */
  async afterOvertaken<T>(job: () => Promise<T>): Promise<T> {
    const known = this.#driving?.current.operation.operationId ?? this.#suspended?.operationId;
    if (known !== undefined) {
      const laneState = await this.#environment.session.getRegister("lane.state", this.#lane.name);
      if (laneState?.value.currentOperationId !== known) await this.#overtaken();
    }
    return job();
  }

  /** Before the lane is shown: an operation that nobody drives, and that somebody else has ended, is open no more. */
  async noticeEnd(): Promise<void> {
    if (this.suspendedOperation !== undefined) await this.afterOvertaken(async () => undefined);
  }

  async #overtaken(): Promise<void> {
    const environment = this.#environment;
    const { name } = this.#lane;
    const live = this.#driving?.live;
    const last = (await environment.session.getRegister("lane.lastResult", name))?.value;
    if (last !== undefined && live?.endedFromOutside === undefined) {
      const result = checkLastResult(name, last);
      if (live) live.endedFromOutside = result;
      await tellEndedElsewhere(environment, name, result);
    }
    this.#suspended = undefined;
    live?.controller.abort();
  }

  /** Drives an accepted operation; settles early if the harness ends. */
  untilOutcome(begun: Begun): Promise<ResumeOutcome> {
    return this.#environment.lifecycle.untilEnd(this.#drive(begun));
  }

  /** The outcome of an operation whose kind is known, as its own call answers it. */
  async outcomeOf<Kind extends OperationKind>(
    kind: Kind,
    begun: Begun,
  ): Promise<Result<{ runId: string } & Outcomes[Kind], never>> {
    const { operation, ...rest } = await this.untilOutcome(begun);
    if (operation !== kind) throw new Error(`a ${kind} was accepted, and a ${operation} was driven`);
    return ok(rest as { runId: string } & Outcomes[Kind]);
  }

  /** Stops what runs; an operation that nobody drives is driven to its end by the lane itself. */
  reconcile(current: CurrentOperation): void {
    if (this.#driving) {
      this.#driving.live.controller.abort();
      this.#lane.gate?.takeBack();
      // Its poll is awaited, and when that is settled the state does not name the source any more.
      if (isPolling(current)) this.#cancelSource(current, this.#driving.live);
      return;
    }
    this.#environment.publisher.takenUp(this.#lane.name);
    const begun = this.begin(current);
    begun.live.controller.abort();
    const toTheEnd = () => this.untilOutcome(begun);
    // Its failure faults the harness, and that is how everybody learns of it.
    (this.#lane.gate?.during(toTheEnd) ?? toTheEnd()).catch(() => undefined);
  }

  #cancelSource(current: CurrentOperation, live: DriveState): void {
    const { provider, modelId } = (capturedConfiguration(current.state) ?? current.configuration).model;
    const isKnown = this.#environment.models.getModel(provider, modelId) !== undefined;
    if (isKnown) cancelSource(this.#effectsOf(live), current, live);
  }

  /** The effects of a drive, behind the gate if there is one. */
  #effectsOf(live: DriveState): Effects {
    live.passHook = this.#passHook;
    const { line, gate } = this.#lane;
    const real = new RealEffects(this.#environment, line, live);
    return gate ? gated(real, gate) : real;
  }

  async #drive({ current, live, isResumed }: Begun): Promise<ResumeOutcome> {
    const { lifecycle, session } = this.#environment;
    const stopListening = lifecycle.onEnd(() => live.controller.abort());
    const { operationId, intent } = current.operation;
    const span = this.#environment.telemetry.start(`pi.harness.${intent.kind}`, {
      "pi.harness.lane": this.#lane.name,
      "pi.harness.operation_id": operationId,
      "pi.harness.is_resumed": isResumed === true,
    });
    live.spans.operation = span;
    const track = this.#environment.publisher.track(this.#lane.name);
    track.spanNow = () => spanNow(live);
    followTurn(live, turnIdOf(current.state));
    try {
      const fx = this.#effectsOf(live);
      if (isResumed) {
        await beforeResume(this.#environment, hookSite(live, current.operation), current.operation);
      }
      const end = await this.#driveToEnd(fx, current, live);
      span.end({ "pi.harness.outcome": end.kind === "finished" ? end.result.outcome : end.kind });
      return await operationOutcome(session, live, current, end);
    } catch (error) {
      throw lifecycle.fault(error);
    } finally {
      followTurn(live, undefined);
      span.end();
      stopListening();
      // An operation that was ended from outside leaves effects behind that nobody will settle.
      if (live.running.size > 0) live.controller.abort();
      this.#release(live);
      this.#lane.onEnd();
    }
  }

  /** Drives until the operation has ended, or is left open. */
  async #driveToEnd(fx: Effects, start: CurrentOperation, live: DriveState): Promise<DriveEnd> {
    for (let current = start; ; ) {
      const end = await drive(fx, this.#view, current, live);
      followTurn(live, undefined);
      if (end.kind === "finished") return end;
      const left = await this.#lane.line.run(() => this.#leave(live, end));
      if ("end" in left) return left.end;
      current = left.cancelled;
    }
  }

  /** Invariant 4. Called on the mutation line; answers the operation if it was cancelled meanwhile, and is to be ended. */
  async #leave(
    live: DriveState,
    reached: Exclude<DriveEnd, { kind: "finished" }>,
  ): Promise<{ readonly end: DriveEnd } | { readonly cancelled: CurrentOperation }> {
    this.#environment.lifecycle.admit();
    const latest = reached.kind === "ended_elsewhere" ? undefined : await this.#view.reload(reached.current);
    if (latest?.state.control.status === "cancel_requested") return { cancelled: latest };
    const end = latest === undefined ? ({ kind: "ended_elsewhere" } as const) : reached;
    const suspended = await suspension(this.#environment, this.#lane.name, end);
    if (this.#driving?.live === live) this.#suspended = suspended;
    this.#release(live);
    return { end };
  }

  /** Takes the drive off its lane, unless the next one has taken its place already. */
  #release(live: DriveState): void {
    if (this.#driving?.live !== live) return;
    this.#driving = undefined;
    this.#structural = live.structural;
    this.#environment.publisher.track(this.#lane.name).spanNow = undefined;
  }
}
