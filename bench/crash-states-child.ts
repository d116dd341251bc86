/**
 * A child that says how many crash states of a medium there are in a second, beside floors that are measured in the same
 * run: bare data on the same medium, once for each state (`bare-data.ts`), and the same runtime and store without the
 * toolkit, with as many recoveries (`by-hand.ts`).
 *
 * Deaths that left the very same share a recovery, by hand as in the exploration. So states and recoveries are said apart.
 */
import { readFileSync } from "node:fs";
import twoTools from "../scenarios/two-tools.ts";
import { type ExploreResult, explore } from "../src/explore/index.ts";
import { RealClock } from "../src/foundation/index.ts";
import { builtInSubjects, FILE_FORK_SHARE, MEDIA, type Medium, type Subject } from "../src/subject/index.ts";
import { openScratch } from "../src/subprocess/index.ts";
import { bareJsonl, bareMemory, bareSqlite } from "./bare-data.ts";
import { byHand } from "./by-hand.ts";
import { compare, type Timed } from "./measure.ts";
import { type RecordedRun, recordRun } from "./recorded.ts";

export interface CrashStatesRequest {
  /** The id of the medium, which is that of its subject. */
  readonly medium: string;
}

export async function main(): Promise<void> {
  const { medium: id } = JSON.parse(readFileSync(0, "utf8")) as CrashStatesRequest;
  const medium = MEDIA.find((known) => known.id === id);
  const subject = builtInSubjects().find((known) => known.id === id);
  if (medium === undefined || subject === undefined) throw new Error(`no subject runs on ${id}`);
  const scratch = openScratch();
  try {
    await benchStates(subject, medium, scratch.folder);
  } finally {
    scratch.remove();
  }
}

async function benchStates(subject: Subject, medium: Medium, folder: string): Promise<void> {
  const { totals, recoveries } = await exploreOnce(subject, folder);
  const ours = (): Timed => repeated(async () => (await exploreOnce(subject, folder)).totals.runs);
  const recorded = await recordRun(subject, twoTools, folder);
  const bare = () => repeated(bareLoop(medium.id, recorded, folder));
  const hand = () => repeated(byHand(subject, medium, twoTools, folder, totals.runs));
  await compare({
    name: `${medium.id}: explored / bare data by hand`,
    ours,
    floor: bare,
    unit: "state",
    goal: { rateShareMin: 0.5 },
  });
  await compare({
    name: `${medium.id}: explored / same runtime and store by hand`,
    ours,
    floor: hand,
    unit: "state",
    goal: { timesMax: 1.25 },
  });
  // What an exploration could reach if it cost nothing.
  await compare({
    name: `${medium.id}: same runtime and store / bare data, both by hand`,
    ours: hand,
    floor: bare,
    unit: "state",
    goal: "none",
  });
  const { executed, repeated: again } = recoveries;
  process.stdout.write(
    `       ${totals.runs} states were judged by ${executed} recoveries, ${again} of them repeated\n`,
  );
}

/** Enough states in one measurement for the compiler to have seen them all. */
function repeated(timed: Timed): Timed {
  return async () => {
    let units = 0;
    for (let time = 0; time < REPETITIONS; time++) units += await timed();
    return units;
  };
}

const REPETITIONS = 8;

/** Crash states only: no other drive, no takeover. */
async function exploreOnce(subject: Subject, folder: string): Promise<ExploreResult> {
  const crashOnly: Subject = { ...subject, drives: ["automatic"], grade: "process-crash" };
  const plan = {
    scenarios: [twoTools],
    subjects: [crashOnly],
    seed: 1,
    depth: 1,
    skip: [],
    checkersOff: [],
    kill: "none" as const,
    version: "bench",
    command: "bench",
  };
  const result = await explore(plan, { clock: new RealClock(), folder });
  const { survived, runs } = result.totals;
  if (survived !== runs) throw new Error("the bench explored a run that did not survive");
  return result;
}

function bareLoop(medium: string, recorded: RecordedRun, folder: string): Timed {
  switch (medium) {
    case "memory":
      return bareMemory(recorded);
    case "jsonl":
      return bareJsonl(recorded, folder);
    default:
      return bareSqlite(recorded, folder, FILE_FORK_SHARE);
  }
}
