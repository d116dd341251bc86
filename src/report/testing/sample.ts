/** One result that has everything a reporter can meet. */
import type { ExploreResult, Failure, GroupResult } from "../../explore/index.ts";

const group = (changed: Partial<GroupResult>): GroupResult => ({
  kind: "crash",
  scenario: "two-tools",
  subject: "jsonl",
  runs: 52,
  survived: 52,
  violated: 0,
  inconclusive: 0,
  perSecond: 340,
  ...changed,
});

export function failure(changed: Partial<Failure> = {}): Failure {
  const id = changed.id ?? "crash/two-tools/jsonl/tool.settle#1:after";
  return {
    id,
    verdict: "violated",
    checker: "recovery-equality",
    signature: "differs:/entries/*",
    message: "expected one entry,\nfound another",
    repro: `npx crashproof repro '${id}'`,
    ...changed,
  };
}

export const SAMPLE: ExploreResult = {
  schema: "crashproof-result/1",
  version: "0.1.0",
  seed: 1,
  command: "npx crashproof crash-points two-tools --kill all",
  elapsedMs: 2345,
  totals: { runs: 105, survived: 100, violated: 4, inconclusive: 1 },
  skipped: [
    { scenario: "terminating-tool", subject: "txlog", reason: "a tool cannot end a run in this system" },
  ],
  checkersOff: ["backends-agree"],
  notReached: ["tool.intent#9"],
  coverage: {
    boundaries: { covered: 50, total: 51 },
    faults: { covered: 9, total: 9, recoveries: 4 },
    fired: [
      { group: "crash", fault: "before", fired: 25, total: 26 },
      { group: "torn", fault: "cut", fired: 6, total: 6 },
      { group: "torn", fault: "doubled", fired: 3, total: 3 },
    ],
    orders: { covered: 2, total: 2 },
    rows: { covered: 30, total: 44, missing: ["jsonl:abort"] },
  },
  recoveries: { deaths: 51, executed: 20, repeated: 3 },
  kills: { states: 51, kills: 2 },
  limits: [
    {
      subject: "jsonl",
      signature: "flip: unnoticed",
      message: "no checksum",
      runs: 7,
      example: "torn/two-tools/jsonl/terminal.completed#1:flip@29.6",
    },
  ],
  groups: [
    group({ survived: 48, violated: 4 }),
    group({ kind: "kill", runs: 51, survived: 50, inconclusive: 1, perSecond: 120 }),
    group({ kind: "torn", runs: 9, survived: 9, unpromised: 7 }),
    group({ kind: "drives", subject: "sqlite", runs: 2, survived: 2, perSecond: 0 }),
  ],
  failures: [
    failure(),
    ...["tool.intent#1:after", "tool.intent#2:after", "terminal.completed#1:before"].map((cut) =>
      failure({ id: `crash/two-tools/jsonl/${cut}` }),
    ),
    failure({
      id: "kill/two-tools/jsonl/tool.settle#1:after",
      verdict: "inconclusive",
      checker: "explorer",
      signature: "child-lost",
      message: "the child died before it came to the cut",
    }),
  ],
};

/** The same exploration, if everything had been fine. */
export const GREEN: ExploreResult = {
  ...SAMPLE,
  totals: { runs: 105, survived: 105, violated: 0, inconclusive: 0 },
  coverage: { ...SAMPLE.coverage, boundaries: { covered: 51, total: 51 } },
  skipped: [],
  checkersOff: [],
  notReached: [],
  groups: [group({})],
  failures: [],
};
