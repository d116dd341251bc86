/**
 * Leases and processes: real processes that want one session (`rounds.ts` says what must hold of them).
 *
 * Processes are started once and take one session after another; owners that must die are started one by one. Of a store
 * that promises no single writer, what becomes of a second opener is shown once, and counted as a limit.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ChildProgram, Contender, childProgram } from "../../subprocess/index.ts";
import { type FaultSink, tellNothing } from "../fault-sink.ts";
import type { Finding } from "../judgement.ts";
import { canBeKilled } from "../kill/kill.ts";
import { faultRunIdOf } from "../run-ids.ts";
import { spread } from "../spread.ts";
import { WAKES } from "../stale-owner.ts";
import type { RunContext } from "../standing.ts";
import type { Ring } from "./ring.ts";
import { type Left, leaveBehind, raceRound, resumeRound, secondOpenerRound, stoppedRound } from "./rounds.ts";
import { type Stand, standsOf } from "./stands.ts";

/** How many rounds to make. */
export interface LeasesPlan {
  /** Only these scenarios, by name; all of the exploration, if absent. */
  readonly scenarios?: readonly string[];
  /** Rounds in which all processes open one session at once. */
  readonly rounds: number;
  /** Processes that want one session; two at least. */
  readonly processes: number;
  /** Commits before which an owner stops or races: every one, or at most so many. */
  readonly commits: "every" | number;
}

/** Makes the rounds. @param program that of the contenders; the package's own unless given */
export async function exploreLeases(
  context: RunContext,
  plan: LeasesPlan,
  sink: FaultSink,
  program?: ChildProgram,
): Promise<void> {
  if (!canBeKilled(context.subject)) return;
  const stands = await standsOf(context);
  if (stands === undefined) return tellNothing(context, "processes that want one session", sink);
  await inRing(context, plan.processes, program, async (ring, lefts) => {
    const tell = (name: string, finding: Finding) => tellFinding(context, sink, name, finding);
    if (context.subject.grade !== "multi-writer") {
      tell("second-opener@1", await secondOpenerRound(ring, await lefts(stands, 0), "second-opener"));
      return;
    }
    for (let round = 1; round <= plan.rounds; round++) {
      tell(`resume@${round}`, await resumeRound(ring, await lefts(stands, round - 1), `resume-${round}`));
    }
    for (const stand of spread(stands, plan.commits)) {
      const at = stand.commitIndex + 1;
      for (const wake of WAKES) {
        const name = `stopped-${wake}@${at}`;
        tell(name, await stoppedRound(ring, stand, wake, name.replace("@", "-")));
      }
      tell(`race@${at}`, await raceRound(ring, stand, `race-${at}`));
    }
  });
}

/** One round again. Does not call the sink if there is none such. */
export async function leaseAgain(context: RunContext, text: string, sink: FaultSink): Promise<void> {
  const [, name, at] =
    /^(resume|stopped-held|stopped-released|race|second-opener)@([1-9]\d*)$/.exec(text) ?? [];
  const isPromised = context.subject.grade === "multi-writer";
  if (name === undefined || !canBeKilled(context.subject) || isPromised === (name === "second-opener"))
    return;
  const stands = await standsOf(context);
  const stand = stands?.[Number(at) - 1];
  if (stands === undefined || (stand === undefined && name !== "resume")) return;
  await inRing(context, PROCESSES, undefined, async (ring, lefts) => {
    const tell = (finding: Finding) => tellFinding(context, sink, text, finding);
    if (name === "resume") return tell(await resumeRound(ring, await lefts(stands, Number(at) - 1), "again"));
    if (name === "second-opener") return tell(await secondOpenerRound(ring, await lefts(stands, 0), "again"));
    if (stand === undefined) return;
    if (name === "race") return tell(await raceRound(ring, stand, "again"));
    tell(await stoppedRound(ring, stand, name === "stopped-held" ? "held" : "released", "again"));
  });
}

/** Processes of a round that is made again: its id does not say how many there were. */
const PROCESSES = 4;

/** Stands at which sessions are left for rounds of `resume`, in turn. */
const LEFT_COUNT = 3;

/** Where a dead owner leaves its session; which of the stands, is told by a number that goes round. */
type Lefts = (stands: readonly Stand[], turn: number) => Promise<Left>;

async function inRing(
  context: RunContext,
  processCount: number,
  given: ChildProgram | undefined,
  work: (ring: Ring, lefts: Lefts) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(context.folder, "lease-"));
  const program = given ?? (await childProgram({ name: "contender" }));
  const contenders = Array.from({ length: Math.max(2, processCount) }, () => new Contender(program));
  try {
    await Promise.all(contenders.map(({ ready }) => ready));
    const ring = { context, folder, contenders };
    const known = new Map<number, Promise<Left>>();
    const lefts: Lefts = (stands, turn) => {
      // The last commits leave nothing that is under way, and the first ones nothing at all.
      const some = spread(stands.slice(2, -1), LEFT_COUNT);
      const place = turn % some.length;
      const stand = some[place];
      if (stand === undefined)
        throw new RangeError("the scenario has too few commits for an owner to die at");
      const left = known.get(place) ?? leaveBehind(ring, new Contender(program), stand, `left-${place}`);
      known.set(place, left);
      return left;
    };
    await work(ring, lefts);
  } finally {
    await Promise.all(contenders.map((one) => one.close()));
    rmSync(folder, { recursive: true, force: true });
  }
}

function tellFinding(context: RunContext, sink: FaultSink, name: string, finding: Finding): void {
  const judgement = { id: faultRunIdOf(context, "lease", name), ...finding };
  sink(name, { judgement, isRecovered: finding.inconclusive === undefined, events: [] });
}
