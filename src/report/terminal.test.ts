/** The terminal report says what was found, how much was looked at, and how to see it again. */
import { describe, expect, it } from "vitest";
import { terminalReport } from "./terminal.ts";
import { failure, GREEN, SAMPLE } from "./testing/sample.ts";

describe("the terminal report", () => {
  it("prints a row for each group, in columns, and no speed where none was measured", () => {
    expect(terminalReport(SAMPLE).split("\n").slice(0, 5)).toEqual([
      "kind    scenario   subject  runs  survived  violated  inconclusive  states/s",
      "crash   two-tools  jsonl      52        48         4             0       340",
      "kill    two-tools  jsonl      51        50         0             1       120",
      "torn    two-tools  jsonl       9         9         0             0       340",
      "drives  two-tools  sqlite      2         2         0             0",
    ]);
  });

  it("says what was not run, and why it cannot be", () => {
    expect(terminalReport(SAMPLE)).toContain(
      "\nskipped: terminating-tool on txlog: a tool cannot end a run in this system\n\nviolated",
    );
    expect(terminalReport(GREEN)).not.toContain("skipped");
  });

  it("says the verdict, the coverage in percent, the rows, the kills, the seed and the time", () => {
    expect(terminalReport(SAMPLE)).toContain(
      [
        "violated: 100 survived, 4 violated, 1 inconclusive, of 105 runs",
        "boundaries 50 of 51 (98.0 %)",
        "orders of races, each proven from its timeline: 2 of 2 (100.0 %)",
        "faults 9 of 9 (100.0 %), recoveries executed from 4",
        "  torn: cut 6, doubled 3",
        "rows of the specification cut before and after: 30 of 44",
        "not looked at: backends-agree",
        "never reached: tool.intent#9",
        "recoveries executed: 20 for 51 deaths, 3 of them again; deaths that left the very same share one",
        "real processes killed: 2, which left 51 sessions",
        "seed 1, 2.3 s",
      ].join("\n"),
    );
  });

  it("is green only if everything survived, and in doubt when nothing was looked at", () => {
    expect(terminalReport(GREEN)).toContain("\nsurvived: 105 survived");
    const doubtful = { runs: 2, survived: 1, violated: 0, inconclusive: 1 };
    expect(terminalReport({ ...GREEN, totals: doubtful })).toContain("\ninconclusive: 1 survived");
    const nothing = { runs: 0, survived: 0, violated: 0, inconclusive: 0 };
    expect(terminalReport({ ...GREEN, totals: nothing })).toContain("\ninconclusive: 0 survived");
  });

  it("does not call a result green for which a checker was switched off, and names it", () => {
    const text = terminalReport({ ...GREEN, checkersOff: ["recovery", "determinism"] });
    expect(text).toContain("\ninconclusive: 105 survived");
    expect(text).toContain("\nnot looked at: recovery, determinism\n");
  });

  it("does not call a result green that names a boundary that was never reached", () => {
    expect(terminalReport({ ...GREEN, notReached: ["tool.intent#9"] })).toContain(
      "\ninconclusive: 105 survived",
    );
  });

  it("does not call a result green of which boundaries are uncovered", () => {
    const almost = { ...SAMPLE.coverage, boundaries: { covered: 9999, total: 10_000 } };
    const text = terminalReport({ ...GREEN, coverage: almost });
    expect(text).toContain("\ninconclusive: 105 survived");
    expect(text).toContain("(99.9 %)");
  });

  it("describes a failure by verdict, checker, signature and message, with the line that repeats it", () => {
    const text = terminalReport({ ...SAMPLE, failures: [failure()] });
    expect(text).toMatch(
      /\nviolated recovery-equality: differs:\/entries\/\*\n {2}expected one entry,\n {2}found another\n {2}npx crashproof repro 'crash\/two-tools\/jsonl\/tool\.settle#1:after'\n\n/,
    );
  });

  it("describes a defect once, with three of its runs and a count of the others", () => {
    const text = terminalReport(SAMPLE);
    expect(text.match(/violated recovery-equality/g)).toHaveLength(1);
    expect(text).toContain("violated recovery-equality: differs:/entries/* (4 runs)\n");
    expect(text.match(/npx crashproof repro 'crash/g)).toHaveLength(3);
    expect(text).toContain("  … and 1 more\n");
    expect(text).toContain("inconclusive explorer: child-lost\n");
  });

  it("shows apart what nobody promises, with the line that repeats it", () => {
    expect(terminalReport(SAMPLE)).toMatch(
      /\nnot promised by jsonl: flip: unnoticed \(7 runs, not counted above\)\n {2}no checksum\n {2}npx crashproof repro 'torn\//,
    );
    const { limits: _limits, ...rest } = GREEN;
    expect(terminalReport(rest)).not.toContain("not promised");
  });

  it("doubts a result of whose faults some are uncovered", () => {
    const faults = { covered: 8, total: 9, recoveries: 2 };
    const text = terminalReport({ ...GREEN, coverage: { ...GREEN.coverage, faults } });
    expect(text).toContain("\ninconclusive: 105 survived");
    expect(text).toContain("\nfaults 8 of 9 (88.8 %), recoveries executed from 2\n");
  });

  it("counts kinds of faults where they are many, and names those of which some did not fire", () => {
    const many = Array.from({ length: 20 }, (_, index) => ({
      group: "disk-faults" as const,
      fault: `kind-${index}`,
      fired: 2,
      total: index === 7 ? 3 : 2,
    }));
    const text = terminalReport({ ...SAMPLE, coverage: { ...SAMPLE.coverage, fired: many } });
    expect(text).toContain("\n  disk-faults: 19 of 20 kinds fired wherever they were to, kind-7 2 of 3\n");
  });

  it("doubts a result of whose orders of races some did not happen", () => {
    const orders = { covered: 1, total: 2 };
    const text = terminalReport({ ...GREEN, coverage: { ...GREEN.coverage, orders } });
    expect(text).toContain("\ninconclusive: 105 survived");
    expect(text).toContain("\norders of races, each proven from its timeline: 1 of 2 (50.0 %)\n");
  });

  it("speaks of no boundaries where none were to be cut", () => {
    const text = terminalReport({
      ...GREEN,
      coverage: { ...GREEN.coverage, boundaries: { covered: 0, total: 0 } },
    });
    expect(text).not.toContain("boundaries");
    expect(text).not.toContain("rows of the specification");
  });

  it("ends with the verdict and how much was looked at, below everything that was found", () => {
    expect(terminalReport(SAMPLE)).toMatch(/\nviolated: 100 survived(.*\n)+seed 1, 2\.3 s\n$/);
  });

  it("says nothing of kills where none were made", () => {
    const { kills: _kills, ...rest } = GREEN;
    expect(terminalReport(rest)).not.toContain("killed");
  });
});
