/**
 * Admission to a lane: who may come in, and when (spec §4.3, §4.7, §5.1).
 *
 * A call has two halves. *Admission* is judged on the mutation line and either refuses with a `Result` error, having
 * written nothing, or accepts. From then on the call belongs to an operation: it resolves with the operation's
 * outcome, and rejects only if the harness is closed or faulted, while the operation stays in the store.
 *
 * 1. A harness that is closed before the first half is through refuses with `Closed`; one that is faulted rejects.
 * 2. What would begin an operation waits while a callback has the lane to itself, and finds an operation that was ended
 *    from outside told of already. What may move the leaf waits for a reservation too.
 * 3. Every admission that is through has the idleness looked at again.
 */
import { err, type Result } from "../foundation/index.ts";
import { laneStateOf } from "../session/index.ts";
import { busy, reservedError } from "./acceptance.ts";
import type { Environment } from "./environment.ts";
import { Closed, HarnessClosed, type LaneBusy } from "./errors.ts";
import { Idleness } from "./idle.ts";
import type { MutationLine } from "./lane-line.ts";
import type { ManualGate } from "./manual-drive.ts";
import { Reservation } from "./reservation.ts";

/** What admission must know of the lane. */
export interface AdmittingLane {
  readonly environment: Environment;
  readonly name: string;
  readonly line: MutationLine;
  /** Undefined with automatic drive. */
  readonly gate: ManualGate | undefined;
  isDriving(): boolean;
  /** Runs a job that may begin an operation. */
  afterOvertaken<T>(job: () => Promise<T>): Promise<T>;
}

/** See the module header. */
export class LaneAdmission {
  readonly reservation = new Reservation(() => this.idleness.changed());
  readonly idleness: Idleness;
  readonly #lane: AdmittingLane;

  constructor(lane: AdmittingLane) {
    this.#lane = lane;
    this.idleness = new Idleness({
      isIdle: () => this.#isIdle(),
      onLine: (job) => lane.line.run(job),
      lifecycle: lane.environment.lifecycle,
    });
  }

  /** A call of the lane: refused with `Closed` once the harness is closed, rejected once it is faulted. */
  async call<T, E>(call: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    const { lifecycle } = this.#lane.environment;
    if (lifecycle.end instanceof HarnessClosed) return err(closed());
    lifecycle.admit();
    const { gate } = this.#lane;
    return gate ? gate.during(call) : call();
  }

  /** The first half of a call, on the mutation line. */
  admit<T, E>(admission: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    return this.guarded(() => this.#lane.line.run(admission));
  }

  /** As `admit`, for a call that begins to drive. */
  admitBegin<T, E>(admission: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    return this.guarded(() => this.onLineToBegin(admission));
  }

  /** Work before acceptance. A close that comes before its end refuses the call. */
  async guarded<T, E>(work: () => Promise<Result<T, E>>): Promise<Result<T, E | Closed>> {
    const { lifecycle } = this.#lane.environment;
    try {
      return await work();
    } catch (error) {
      const end = lifecycle.fault(error);
      if (end instanceof HarnessClosed) return err(closed());
      throw end;
    } finally {
      this.idleness.changed();
    }
  }

  /** A job that may begin an operation. */
  onLineToBegin<T>(job: () => Promise<T>): Promise<T> {
    return this.#onFreeLine(() => this.#lane.afterOvertaken(job));
  }

  /** A job that waits while a callback has the lane to itself. */
  async #onFreeLine<T>(job: () => Promise<T>): Promise<T> {
    for (;;) {
      const done = await this.#lane.line.run(async () =>
        this.idleness.isHeld ? undefined : { result: await job() },
      );
      this.idleness.changed();
      if (done) return done.result;
      await this.idleness.released();
    }
  }

  /** A job that may move the leaf: it waits until the lane is not reserved. */
  async onUnreservedLine<T>(job: () => Promise<T>): Promise<T> {
    for (;;) {
      const done = await this.#onFreeLine(async () =>
        this.reservation.heldFor ? undefined : { result: await job() },
      );
      if (done) return done.result;
      await this.reservation.released();
    }
  }

  /** The refusal of a lane that is taken: by an operation, or reserved for one. */
  async refusal(): Promise<LaneBusy | undefined> {
    const { environment, name } = this.#lane;
    if (this.reservation.heldFor) return reservedError(name, this.reservation.heldFor);
    const { currentOperationId } = await laneStateOf(environment.session, name);
    return currentOperationId === null ? undefined : busy(environment, name, currentOperationId);
  }

  async #isIdle(): Promise<boolean> {
    if (this.#lane.isDriving() || this.reservation.heldFor) return false;
    const laneState = await this.#lane.environment.session.getRegister("lane.state", this.#lane.name);
    return laneState?.value.currentOperationId === null;
  }
}

function closed(): Closed {
  return new Closed({ message: "the harness is closed; open the session again" });
}
