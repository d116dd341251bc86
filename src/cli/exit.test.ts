/** The exit code says how it ended. */
import { describe, expect, it } from "vitest";
import { EXIT, exitCodeOf } from "./exit.ts";
import { main } from "./main.ts";

const GROUP = {
  kind: "crash",
  scenario: "s",
  subject: "m",
  runs: 0,
  survived: 0,
  violated: 0,
  inconclusive: 0,
  perSecond: 0,
} as const;

describe("the exit code", () => {
  const green = {
    totals: { runs: 2, survived: 2, violated: 0, inconclusive: 0 },
    coverage: { boundaries: { covered: 2, total: 2 }, rows: { covered: 0, total: 0, missing: [] } },
    groups: [{ ...GROUP, runs: 2, survived: 2 }],
    checkersOff: [],
    notReached: [],
  };
  it.each([
    ["0 when everything survived and was covered", {}, 0],
    ["1 when a promise was broken", { totals: { ...green.totals, violated: 1 } }, 1],
    [
      "1 when a promise was broken, whatever is in doubt",
      { totals: { ...green.totals, violated: 1, inconclusive: 1 } },
      1,
    ],
    ["3 when a run was in doubt", { totals: { ...green.totals, inconclusive: 1 } }, 3],
    [
      "3 when a boundary is uncovered",
      { coverage: { ...green.coverage, boundaries: { covered: 1, total: 2 } } },
      3,
    ],
    ["3 when a checker was off", { checkersOff: ["recovery"] }, 3],
    ["3 when a boundary that was named was never reached", { notReached: ["tool.intent#9"] }, 3],
    ["3 when nothing was run in one of the groups", { groups: [GROUP] }, 3],
    ["3 when nothing was run", { totals: { runs: 0, survived: 0, violated: 0, inconclusive: 0 } }, 3],
  ])("is %s", (_, changed, code) => {
    expect(exitCodeOf({ ...green, ...changed })).toBe(code);
  });

  it("is 4 when crashproof itself fails, with the stack for whoever mends it, and the cause", async () => {
    let err = "";
    const code = await main(["list"], {
      out: () => {
        throw new TypeError("no terminal", { cause: new Error("nobody is there") });
      },
      err: (text) => {
        err += text;
      },
      isTerminal: false,
    });
    expect(code).toBe(EXIT.failed);
    expect(err).toMatch(/^crashproof itself failed: TypeError: no terminal\n +at /);
    expect(err).toContain("[cause]: Error: nobody is there\n");
  });
});
