/** Generated workloads under generated faults: no false alarm, no difference between two explorations, and small failures. */
import { describe, expect, it } from "vitest";
import { parseRunId } from "../../faults/index.ts";
import {
  builtInSubjects,
  harnessSubject,
  memoryMedium,
  type Subject,
  subjectById,
} from "../../subject/index.ts";
import { explore } from "../explore.ts";
import { plan, repeat, scratchHost } from "../testing/explorations.ts";
import { MIXTURES } from "./arbitrary.ts";
import { drawAgain } from "./cases.ts";
import type { FuzzPlan } from "./fuzz.ts";

const host = scratchHost();

const A_FEW = { runs: 6, mixtures: MIXTURES } as const;

function fuzz(subjects: readonly Subject[], wanted: FuzzPlan, seed = 7) {
  return explore(plan(subjects, { scenarios: [], seed, fuzz: wanted }), host);
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
    const shrink = { triesMax: 200, timeMaxMs: 30_000 };
    const { failures } = await fuzz([silentAfterTwoDeaths], { runs: 12, mixtures: ["plain"], shrink }, 8);
    const failure = failures.find(({ signature }) => signature === "result other than the answer");
    const id = parseRunId(failure?.id ?? "");
    if (!id.ok || failure === undefined) throw new Error("a result without content was not seen");
    const smallest = await drawAgain("plain", id.value.seed, id.value.fault ?? "");
    expect(smallest?.faults).toHaveLength(2);
    expect(smallest?.acts).toHaveLength(1);
    for (let times = 0; times < 3; times++) {
      const parts = { scenario: undefined, subjects: [silentAfterTwoDeaths] };
      const { judgement } = await repeat(failure.id, parts, host);
      expect(judgement.violations[0]).toMatchObject({
        signature: failure.signature,
        message: failure.message,
      });
    }
  });
});

/** A runtime that loses what its tools answer, once it was restarted twice. */
const silentAfterTwoDeaths = harnessSubject(memoryMedium, {
  id: "silent",
  seams: {
    tools: (tools, { incarnation }) =>
      incarnation < 2
        ? tools
        : tools.map((tool) => ({
            ...tool,
            execute: async (...call) => ({ ...(await tool.execute(...call)), content: [] }),
          })),
  },
});
