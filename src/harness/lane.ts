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
import type { AgentMessage, ImageContent, LaneLastResult } from "../model/index.ts";
import { type CurrentOperation, checkLastResult, nextAction } from "../operation/index.ts";
import {
  acceptPrompt,
  busy,
  missingError,
  normalizeMessage,
  normalizePrompt,
  type PromptInput,
} from "./acceptance.ts";
import { type DriveState, newDriveState } from "./drive-state.ts";
import { createDriveView } from "./drive-view.ts";
import { RealEffects } from "./effects.ts";
import type { Environment } from "./environment.ts";
import {
  Closed,
  HarnessClosed,
  type LaneBusy,
  type MissingIdentities,
  NothingToResume,
  NotImplemented,
} from "./errors.ts";
import { type DriveEnd, type DriveView, drive } from "./interpreter.ts";
import { MutationLine } from "./lane-line.ts";
import { type ActionInfo, gated, ManualGate } from "./manual-drive.ts";
import {
  type CancelQueuedResult,
  type NextRunResult,
  type QueueResult,
  type ResumeResult,
  type RunOutcome,
  type RunResult,
  runOutcome,
} from "./outcomes.ts";
import { queueForNextRun, queueInput, withdraw } from "./queues.ts";
import { readCurrent } from "./restore.ts";

/** See the module header. */
export class HarnessLane {
  readonly name: string;
  readonly #environment: Environment;
  readonly #line = new MutationLine();
  /** Undefined with automatic drive. */
  readonly #gate: ManualGate | undefined;
  readonly #view: DriveView;
  #driving: DriveState | undefined;

  constructor(environment: Environment, name: string, mode: "automatic" | "manual") {
    this.name = name;
    this.#environment = environment;
    this.#gate = mode === "manual" ? new ManualGate(environment.lifecycle) : undefined;
    this.#view = createDriveView(environment);
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
      const accepted = await this.#admit(async () => {
        const result = await acceptPrompt(environment, this.name, operationId, messages.value);
        return result.ok ? ok({ current: result.value, live: this.#beginDrive(0) }) : result;
      });
      if (!accepted.ok) return accepted;
      const { current, live } = accepted.value;
      const outcome = await this.#untilOutcome(current, live);
      return outcome.ok ? ok({ runId: operationId, ...outcome.value }) : outcome;
    });
  }

  /** Goes on with the open operation of the lane, wherever its state stands. */
  resume(): Promise<ResumeResult> {
    return this.#call(async (): Promise<ResumeResult> => {
      const admitted = await this.#admit(() => this.#admitResume());
      if (!admitted.ok) return admitted;
      const { current, live } = admitted.value;
      const outcome = await this.#untilOutcome(current, live);
      if (!outcome.ok) return outcome;
      return ok({ operation: "run", runId: current.operation.operationId, ...outcome.value });
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

  /** Takes a queued item back. What is placed already stays. */
  cancelQueued(entryId: string): Promise<CancelQueuedResult> {
    return this.#call(() =>
      this.#admit(async () => ok({ kind: await withdraw(this.#environment, this.name, entryId) })),
    );
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

  async #admitResume(): Promise<
    Result<
      { current: CurrentOperation; live: DriveState },
      LaneBusy | NothingToResume | NotImplemented | MissingIdentities
    >
  > {
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
    const live = newDriveState(1);
    const action = nextAction(current.state, await this.#view.plannerInputs(current, live));
    if (action.kind === "suspend" && action.reason === "missing_identities") {
      return err(missingError(this.name, action.missing));
    }
    if (action.kind === "not_implemented") return err(this.#notImplemented(action.what));
    return ok({ current, live: this.#beginDrive(1, live) });
  }

  #beginDrive(deferredPollsRemaining: 0 | 1, live = newDriveState(deferredPollsRemaining)): DriveState {
    this.#driving = live;
    return live;
  }

  /** Drives an accepted operation; settles early if the harness ends. */
  #untilOutcome(current: CurrentOperation, live: DriveState): Promise<Result<RunOutcome, NotImplemented>> {
    return this.#environment.lifecycle.untilEnd(this.#drive(current, live));
  }

  async #drive(current: CurrentOperation, live: DriveState): Promise<Result<RunOutcome, NotImplemented>> {
    const { lifecycle } = this.#environment;
    const stopListening = lifecycle.onEnd(() => live.controller.abort());
    try {
      const real = new RealEffects(this.#environment, this.#line, live);
      const fx = this.#gate ? gated(real, this.#gate) : real;
      const end = await drive(fx, this.#view, current, live);
      return await this.#outcomeOf(end, live, current.operation.operationId);
    } catch (error) {
      throw lifecycle.fault(error);
    } finally {
      stopListening();
      // An operation that was ended from outside leaves effects behind that nobody will settle.
      if (live.running.size > 0) live.controller.abort();
      if (this.#driving === live) this.#driving = undefined;
    }
  }

  async #outcomeOf(
    end: DriveEnd,
    live: DriveState,
    operationId: string,
  ): Promise<Result<RunOutcome, NotImplemented>> {
    const { session } = this.#environment;
    switch (end.kind) {
      case "finished":
        return ok(await runOutcome(session, live, end.result));
      case "ended_elsewhere": {
        const last = await session.getRegister("lane.lastResult", this.name);
        if (last?.value.operationId !== operationId) {
          throw new Error(`operation ${operationId} was ended from outside and left no result`);
        }
        return ok(await runOutcome(session, undefined, checkLastResult(this.name, last.value)));
      }
      case "deferred": {
        const finalEntryId = live.latestAssistant?.entryId ?? "";
        const leafId = end.current.leafId ?? "";
        return ok({ kind: "suspended", reason: "deferred", leafId, finalEntryId, deferred: end.handle });
      }
      case "missing_identities": {
        const leafId = end.current.leafId ?? "";
        return ok({ kind: "suspended", reason: "missing_identities", leafId, missing: end.missing });
      }
      case "not_implemented":
        return err(this.#notImplemented(end.what));
    }
  }

  /** A call of the lane: refused with `Closed` once the harness is closed, rejected once it is faulted. */
  async #call<T, E>(call: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    const { lifecycle } = this.#environment;
    if (lifecycle.end instanceof HarnessClosed) return err(closed());
    lifecycle.admit();
    return this.#gate ? this.#gate.during(call) : call();
  }

  /** The first half of a call, on the mutation line. A close that comes before its end refuses it. */
  async #admit<T, E>(admission: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    const { lifecycle } = this.#environment;
    try {
      return await this.#line.run(admission);
    } catch (error) {
      const end = lifecycle.fault(error);
      if (end instanceof HarnessClosed) return err(closed());
      throw end;
    }
  }

  #manual(): ManualGate {
    if (this.#gate) return this.#gate;
    throw new TypeError('the harness drives itself; create it with drive: "manual" to step through actions');
  }

  #notImplemented(what: string): NotImplemented {
    const message = `${what} is not implemented yet; the operation stays open as it is stored`;
    return new NotImplemented({ message, lane: this.name, what });
  }
}

function closed(): Closed {
  return new Closed({ message: "the harness is closed; open the session again" });
}
