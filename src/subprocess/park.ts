/**
 * One session in a child: walked to its cut and left there.
 *
 * It crosses boundaries exactly as the simulated walk does (`explore/crash/walk.ts`), one at a time and in the order
 * of arrival, so that both stand at the same place. Then nothing of it moves any more, and the kill can come.
 *
 * What "there" is.
 * - `before`: the boundary is parked at the gate.
 * - `inside` a commit: the medium took the wanted bytes and stopped (see `faults/medium-stop.ts`).
 * - `inside` an effect: it happened, and its answer is held back.
 * - `after`: it was crossed, and everything else is parked.
 */
import {
  type Boundary,
  type BoundaryKind,
  boundaryName,
  type CutRef,
  cutRefName,
  FileLedger,
  Gate,
  type MediumStop,
  type Scenario,
  Timeline,
  World,
} from "../faults/index.ts";
import { type Clock, VirtualClock } from "../foundation/index.ts";
import type { Incarnation, Subject } from "../subject/index.ts";
import { Once } from "./once.ts";
import { type Doubt, diskFolderOf, ledgerPathOf } from "./protocol.ts";
import type { Provisioner } from "./provision.ts";

/** What to walk, and where to. */
export interface Session {
  readonly subject: Subject;
  readonly provisioner: Provisioner;
  readonly scenario: Scenario;
  readonly seed: number;
  readonly cut: CutRef;
  /** The session's own folder; see `protocol.ts`. */
  readonly folder: string;
}

/** A session that stands at its cut: whoever holds it keeps it from being collected. */
export interface Parked {
  readonly incarnation: Incarnation;
}

/** Walks a session to its cut. `limitMs` is host time of `clock`. */
export async function park(session: Session, clock: Clock, limitMs: number): Promise<Parked | Doubt> {
  const { subject, scenario, seed, cut, folder } = session;
  const disk = await session.provisioner.provision(subject, seed, diskFolderOf(folder));
  const world = new World(scenario, new VirtualClock(), new FileLedger(ledgerPathOf(folder)));
  const there = new Once();
  const gate = gateFor(cut, there);
  const mediumStop = mediumStopFor(cut, there);
  const incarnation = subject.boot({
    disk,
    world,
    scenario,
    seed,
    incarnation: 0,
    gate,
    timeline: new Timeline(),
    drive: subject.drives[0] ?? "automatic",
    isNamed: true,
    ...(mediumStop === undefined ? {} : { mediumStop }),
  });

  const timer = new AbortController();
  const late = clock.sleep(limitMs, timer.signal).then(() => stalled(gate, limitMs));
  const doubt = await Promise.race([walkTo(cut, gate, incarnation, there), late]);
  timer.abort();
  if (doubt === undefined) return { incarnation };
  gate.drop();
  incarnation.drop();
  return doubt;
}

/** Resolves to undefined when the session stands at the cut. */
async function walkTo(
  cut: CutRef,
  gate: Gate,
  incarnation: Incarnation,
  there: Once,
): Promise<Doubt | undefined> {
  const { life } = incarnation;
  for (;;) {
    await gate.quiet(life);
    const [boundary] = gate.parked;
    if (boundary === undefined) return notReached(cut, gate, life);
    if (!isAt(cut, boundary)) {
      gate.release(boundary);
      continue;
    }
    if (cut.position === "before") return undefined;
    if (cut.position === "inside" && (boundary.kind === "commit") !== (cut.bytesWritten !== undefined)) {
      return {
        signature: "no-such-cut",
        message: `${cutRefName(cut)} names no place where a process can die: a torn commit is named with the bytes written, an effect without`,
      };
    }
    gate.release(boundary);
    const passed = gate.quiet(life).then(() => cut.position === "after");
    // A crossing that stops halfway never lets the gate come to rest; one that does not stop does.
    if (await Promise.race([there.happened.then(() => true), passed])) return undefined;
    return {
      signature: "fault-not-fired",
      message: `${boundaryName(boundary)} was crossed and did not stop at ${cutRefName(cut)}`,
    };
  }
}

/** The gate of a session: an ordinary one, unless an effect's answer has to be held back. */
function gateFor(cut: CutRef, there: Once): Gate {
  const options = { open: false };
  return cut.position === "inside" && cut.bytesWritten === undefined
    ? new HoldingGate(cut, there, options)
    : new Gate(options);
}

function mediumStopFor(cut: CutRef, there: Once): MediumStop | undefined {
  if (cut.position !== "inside" || cut.bytesWritten === undefined) return undefined;
  return { at: cut, bytesWritten: cut.bytesWritten, reached: () => there.happen() };
}

/** A gate on whose other side one effect happens and is not answered. */
class HoldingGate extends Gate {
  readonly #cut: CutRef;
  readonly #there: Once;

  constructor(cut: CutRef, there: Once, options: { open: boolean }) {
    super(options);
    this.#cut = cut;
    this.#there = there;
  }

  override pass<T>(
    kind: BoundaryKind,
    label: string,
    cross: (boundary: Boundary) => T | Promise<T>,
  ): Promise<T> {
    return super.pass(kind, label, (boundary) =>
      isAt(this.#cut, boundary) ? this.#hold(() => cross(boundary)) : cross(boundary),
    );
  }

  async #hold<T>(happen: () => T | Promise<T>): Promise<T> {
    try {
      await happen();
    } catch {
      // An effect that happens and then fails is held like any other: its failure does not arrive either.
    }
    this.#there.happen();
    return new Promise<T>(() => undefined);
  }
}

function isAt({ label, occurrence }: CutRef, boundary: Boundary): boolean {
  return boundary.label === label && boundary.occurrence === occurrence;
}

async function notReached(cut: CutRef, gate: Gate, life: Promise<void>): Promise<Doubt> {
  const where = `${cutRefName(cut)} after ${gate.crossedCount} boundaries`;
  if (gate.capReached) {
    return { signature: "cap-reached", message: `the run crossed too many boundaries before ${where}` };
  }
  try {
    await life;
    return { signature: "unreached", message: `the run ended without reaching ${where}` };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "unknown", message: String(error) };
    return { signature: `refused:${name}`, message: `the run did not reach ${where}: ${name}: ${message}` };
  }
}

function stalled(gate: Gate, limitMs: number): Doubt {
  const message = `the run did not reach its boundary within ${limitMs} ms; it had crossed ${gate.crossedCount}`;
  return { signature: "stalled", message };
}
