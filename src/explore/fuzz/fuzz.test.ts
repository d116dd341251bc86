/** Generated workloads under generated faults: no false alarm, no difference between two explorations, and small failures. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgetsWhatWaits } from "../../../fixtures/canaries/forgets-what-waits.ts";
import { parseRunId } from "../../faults/index.ts";
import { RealClock } from "../../foundation/index.ts";
import { builtInSubjects, type Subject, subjectById } from "../../subject/index.ts";
import { openScratch, type Scratch } from "../../subprocess/index.ts";
import { explore } from "../explore.ts";
import type { ExploreHost, ExplorePlan } from "../plan.ts";
import { repro } from "../repro.ts";
import { MIXTURES } from "./arbitrary.ts";
import { drawAgain } from "./cases.ts";
import type { FuzzPlan } from "./fuzz.ts";

let scratch: Scratch;
let host: ExploreHost;
beforeAll(() => {
  scratch = openScratch();
  host = { clock: new RealClock(), folder: scratch.folder };
});
afterAll(() => scratch.remove());

const A_FEW = { runs: 6, mixtures: MIXTURES } as const;

function fuzz(subjects: readonly Subject[], plan: FuzzPlan, seed = 7) {
  const rest: Omit<ExplorePlan, "subjects" | "seed"> = {
    scenarios: [],
    depth: 1,
    skip: [],
    checkersOff: [],
    kill: "none",
    version: "",
    command: "",
  };
  return explore({ ...rest, subjects, seed, fuzz: plan }, host);
}

const memory = subjectById("memory") as Subject;

describe("fuzzing", () => {
  it("raises no alarm on the right systems, and holds the stores of a family against each other", async () => {
    const { totals, groups, failures } = await fuzz(builtInSubjects(), A_FEW);
    expect(failures).toEqual([]);
    expect(totals.survived).toBe(totals.runs);
    const compared = groups.filter(({ subject }) => subject === "harness");
    expect(compared.every(({ kind, runs }) => kind === "fuzz" && runs > 0)).toBe(true);
    expect(compared.map(({ scenario }) => scenario)).toEqual([...MIXTURES].sort());
  });

  it("finds the same from the same seed", async () => {
    const { elapsedMs: _elapsed, groups, ...first } = await fuzz([memory], A_FEW);
    const { elapsedMs: _again, groups: groupsAgain, ...second } = await fuzz([memory], A_FEW);
    expect(second).toEqual(first);
    const timeless = groups.map((group) => ({ ...group, perSecond: 0 }));
    expect(groupsAgain.map((group) => ({ ...group, perSecond: 0 }))).toEqual(timeless);
  });

  it("begins no case after its time, and a result without any case is not green", async () => {
    const { totals } = await fuzz([memory], { ...A_FEW, untilMs: 0 });
    expect(totals.runs).toBe(0);
  });

  it("shrinks a failure to one of its kind with no more faults than it takes, which its line repeats", async () => {
    const { looks, subject, caughtBy } = forgetsWhatWaits;
    const plan = { ...(looks?.fuzz as FuzzPlan), shrink: { triesMax: 500, timeMaxMs: 60_000 } };
    const { failures } = await fuzz([subject], plan, looks?.seed);
    const failure = failures.find(({ checker }) => checker === caughtBy);
    const id = parseRunId(failure?.id ?? "");
    if (!id.ok || failure === undefined) throw new Error("the canary was not caught");
    const { scenario: mixture, seed, fault: path = "" } = id.value;
    const smallest = await drawAgain(mixture as "one-lane", seed, path);
    // It takes two deaths.
    expect(smallest?.faults).toHaveLength(2);
    for (let times = 0; times < 3; times++) {
      const parts = { id: id.value, text: failure.id, scenario: undefined, subjects: [subject] };
      const { judgement } = await repro(parts, host);
      expect(judgement.violations.map(({ signature }) => signature)).toContain(failure.signature);
    }
  });
});
