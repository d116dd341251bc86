/**
 * Crash states per second, beside floors that are measured in the same run: bare data on the same medium
 * (`bare-data.ts`), and the same runtime and store without the toolkit (`by-hand.ts`).
 */
import twoTools from "../scenarios/two-tools.ts";
import { explore } from "../src/explore/index.ts";
import { RealClock } from "../src/foundation/index.ts";
import { builtInSubjects, FILE_FORK_SHARE, MEDIA, type Subject } from "../src/subject/index.ts";
import { openScratch } from "../src/subprocess/index.ts";
import { bareJsonl, bareMemory, bareSqlite } from "./bare-data.ts";
import { byHand } from "./by-hand.ts";
import { compare, type Timed } from "./measure.ts";
import { type RecordedRun, recordRun } from "./recorded.ts";

export async function benchCrashStates(): Promise<void> {
  const scratch = openScratch();
  const { folder } = scratch;
  try {
    for (const medium of MEDIA) {
      const subject = builtInSubjects().find(({ id }) => id === medium.id);
      if (subject === undefined) throw new Error(`no subject runs on ${medium.id}`);
      const ours = (): Timed => repeated(() => exploreStates(subject, folder));
      const recorded = await recordRun(subject, twoTools, folder, medium.id === "jsonl" ? 1 : 0);
      await compare({
        name: `${medium.id}: explored / bare data by hand`,
        ours,
        floor: () => repeated(bareLoop(medium.id, recorded, folder)),
        unit: "state",
        goal: { rateShareMin: 0.5 },
      });
      await compare({
        name: `${medium.id}: explored / same runtime and store by hand`,
        ours,
        floor: async () => repeated(await byHand(subject, medium, twoTools, folder)),
        unit: "state",
        goal: { timesMax: 1.25 },
      });
    }
  } finally {
    scratch.remove();
  }
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
async function exploreStates(subject: Subject, folder: string): Promise<number> {
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
  const { totals } = await explore(plan, { clock: new RealClock(), folder });
  if (totals.survived !== totals.runs) throw new Error("the bench explored a run that did not survive");
  return totals.runs;
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
