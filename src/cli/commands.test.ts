/** The commands do what their help says, and the exit code says what they found. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CANARIES } from "../../fixtures/canaries/index.ts";
import { RACES } from "../../races/index.ts";
import { SCENARIOS } from "../../scenarios/index.ts";
import type { ExploreResult } from "../explore/index.ts";
import { PLAIN_SHAPE, shapeOf } from "../report/testing/result-shape.ts";
import { CHECKS } from "./checks.ts";
import { EXIT } from "./exit.ts";
import { allSubjects } from "./subjects.ts";
import { crashproof } from "./testing/command.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "crashproof-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const readJson = (file: string) => JSON.parse(readFileSync(file, "utf8")) as ExploreResult;

describe("crash-points", () => {
  it("ends with 0 when everything survived, and writes the whole result in its published shape", async () => {
    const file = join(folder, "green.json");
    const args = ["crash-points", "one-turn", "--subject", "memory", "--json", file];
    const { code, out, err } = await crashproof(...args);
    expect(code).toBe(EXIT.survived);
    expect(out).toMatch(/^kind +scenario +subject/);
    expect(out).toContain("boundaries 19 of 19 (100.0 %)");
    expect(err).toBe("one-turn on memory: 20 states\n");
    const result = readJson(file);
    expect(shapeOf(result)).toEqual({
      ...PLAIN_SHAPE,
      checkersOff: [],
      notReached: [],
      skipped: [],
      failures: [],
    });
    expect(result).toMatchObject({ schema: "crashproof-result/1", seed: 1, failures: [] });
    expect(result.command).toBe("npx crashproof crash-points one-turn --subject memory");
    expect(result.version).toBe(
      (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version,
    );
    expect(readdirSync(folder)).toEqual(["green.json"]);
  });

  it("says nothing on stderr when it is told to be quiet", async () => {
    expect((await crashproof("crash-points", "one-turn", "--subject", "memory", "--quiet")).err).toBe("");
  });

  it("ends with 3, and less than 100 %, when a boundary is left out", async () => {
    const file = join(folder, "skipped.json");
    const stores = ["memory", "jsonl", "sqlite"].flatMap((id) => ["--subject", id]);
    const line = ["crash-points", "one-turn", "--skip", "generation.intent", "--json", file];
    const { code, out } = await crashproof(...line, ...stores);
    expect(code).toBe(EXIT.inconclusive);
    // Two positions on Memory, three on JSONL and SQLite, and one takeover less than the 75 of the scenario.
    expect(out).toContain("\ninconclusive: ");
    expect(out).toContain("boundaries 66 of 75 (88.0 %)");
    expect(readJson(file)).toMatchObject({
      coverage: { boundaries: { covered: 66, total: 75 } },
      notReached: [],
    });
  });

  it("ends with 3, and says so, when the boundary to leave out never comes", async () => {
    const line = ["crash-points", "one-turn", "--subject", "memory", "--skip", "generation.intent#9"];
    const { code, out } = await crashproof(...line);
    expect(code).toBe(EXIT.inconclusive);
    expect(out).toContain("\nboundaries 19 of 19 (100.0 %)\n");
    expect(out).toContain("\nnever reached: generation.intent#9\n");
  });

  it("ends with 1 when a promise is broken, and prints the line that repeats it", async () => {
    const line = ["crash-points", "two-tools", "--subject", "canary:effect-before-intent"];
    const file = join(folder, "broken.json");
    const { code, out } = await crashproof(...line, "--json", file);
    expect(code).toBe(EXIT.violated);
    expect(shapeOf(readJson(file))).toEqual({
      ...PLAIN_SHAPE,
      checkersOff: [],
      notReached: [],
      skipped: [],
    });
    const repros = [...out.matchAll(/^ {2}npx crashproof repro '([^']+)'$/gm)].map(([, id]) => id ?? "");
    expect(repros.length).toBeGreaterThan(3);
    const seen = out.match(/^violated effect-safety: request without an intent \(\d+ runs\)$/m);
    expect(seen).not.toBeNull();

    const again = await crashproof("repro", repros[0] ?? "");
    expect(again.code).toBe(EXIT.violated);
    expect(again.out).toContain("  effect-safety: request without an intent\n");
  });

  it("prints a line that repeats the failure in a fresh process", async () => {
    const line = ["crash-points", "two-tools", "--subject", "canary:effect-before-intent", "--quiet"];
    const { out } = await crashproof(...line);
    const cut = [...out.matchAll(/^ {2}npx crashproof repro '(crash\/[^']+)'$/gm)][0]?.[1] ?? "";
    const args = [join(root, "src/cli/bin.js"), "repro", cut];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    expect(stderr).toBe("");
    expect(status).toBe(EXIT.violated);
    expect(stdout).toContain(`\nviolated: ${cut}\n`);
    expect(stdout).toContain("  effect-safety: ");
    expect(stdout).toMatch(/^ +1 {2}boot$/m);
  });
});

describe("torn-tail", () => {
  it("damages the last commits of a format, and says apart what nobody promises", async () => {
    const file = join(folder, "torn.json");
    const line = ["torn-tail", "jsonl", "--scenario", "one-turn", "--places", "2", "--commits", "2"];
    const { code, out } = await crashproof(...line, "--flips", "200", "--json", file);
    expect(code).toBe(EXIT.survived);
    expect(out).toMatch(/\nnot promised by jsonl: flip: unnoticed \(\d+ runs, not counted above\)\n/);
    expect(out).toMatch(/\nfaults (\d+) of \1 \(100\.0 %\), recoveries executed from \d+\n/);
    expect(out).not.toContain("boundaries");
    const [group] = readJson(file).groups;
    expect(group).toMatchObject({ kind: "torn", scenario: "one-turn", subject: "jsonl", violated: 0 });
  });

  it("ends with 1 when damage is not noticed that the format promises to notice, and repeats it", async () => {
    const line = ["torn-tail", "canary:damaged-line-skipped", "--scenario", "one-turn", "--places", "1"];
    const { code, out } = await crashproof(...line, "--commits", "1", "--flips", "0");
    expect(code).toBe(EXIT.violated);
    const id = /repro '(torn\/[^']+)'/.exec(out)?.[1] ?? "";
    const again = await crashproof("repro", id);
    expect(again.code).toBe(EXIT.violated);
    expect(again.out).toContain("  torn-bytes: ");
  });

  it("ends with 3 where there are no bytes to damage", async () => {
    expect((await crashproof("torn-tail", "memory")).code).toBe(EXIT.inconclusive);
  });

  it("repeats what nobody promises as what it is, and never as survived", async () => {
    const { out } = await crashproof(
      "torn-tail",
      "txlog",
      "--places",
      "0",
      "--flips",
      "400",
      "--commits",
      "1",
    );
    const id = /not promised[\s\S]*?repro '(torn\/[^']+)'/.exec(out)?.[1] ?? "";
    const again = await crashproof("repro", id);
    expect(again.code).toBe(EXIT.inconclusive);
    expect(again.out).toContain("\n  not promised: flip: unnoticed\n");
  });
});

describe("disk-faults", () => {
  it("lets a medium fail, and counts what fired", async () => {
    const { code, out } = await crashproof("disk-faults", "one-turn", "--subject", "jsonl", "--calls", "1");
    expect(code).toBe(EXIT.survived);
    expect(out).toMatch(/^disk-faults +one-turn +jsonl +(\d+) +\1 +0 +0/m);
    expect(out).toMatch(/\nfaults (\d+) of \1 \(100\.0 %\), recoveries executed from \1\n/);
  });

  it("ends with 1 when a lost commit is confirmed, and repeats it", async () => {
    const line = [
      "disk-faults",
      "one-turn",
      "--subject",
      "canary:short-write-taken-for-whole",
      "--calls",
      "1",
    ];
    const { code, out } = await crashproof(...line);
    expect(code).toBe(EXIT.violated);
    expect(out).toContain("violated failing-storage: confirmed commit lost");
    const id = /failing-storage: confirmed[\s\S]*?repro '(disk-fault\/[^']+)'/.exec(out)?.[1] ?? "";
    const again = await crashproof("repro", id);
    expect(again.code).toBe(EXIT.violated);
    expect(again.out).toContain("  failing-storage: confirmed commit lost\n");
  });
});

describe("repro", () => {
  it("prints what was observed, and ends with 0 for a run that survives", async () => {
    const { code, out } = await crashproof("repro", "crash/one-turn/jsonl/terminal.completed#1:before");
    expect(code).toBe(EXIT.survived);
    expect(out).toContain("CRASH   terminal.completed#1:before\n");
    expect(out).toMatch(/boot again \(life 2\)\n +\d+ {2}commit {2}terminal\.completed#1\n\nsurvived: crash/);
  });

  it("ends with 3 for a cut to which the run never comes", async () => {
    const { code, out } = await crashproof("repro", "crash/one-turn/memory/tool.settle#1:after");
    expect(code).toBe(EXIT.inconclusive);
    expect(out).toContain("never came to that cut");
  });
});

describe("races", () => {
  it("runs both orders of a race, proves them, and cuts them; repro repeats a death in one of them", async () => {
    const { code, out } = await crashproof("races", "abort-vs-settlement", "--subject", "memory");
    expect(out).toMatch(/^race +abort-vs-settlement\/abort-first +memory +18 +18 +0 +0/m);
    expect(out).toMatch(/^race +abort-vs-settlement\/response-first +memory +18 +18 +0 +0/m);
    expect(out).toContain("orders of races, each proven from its timeline: 2 of 2 (100.0 %)");
    expect(code).toBe(EXIT.survived);
    const id = "race/abort-vs-settlement/memory/abort-first/abort#1:after";
    const again = await crashproof("repro", id);
    expect(again.out).toMatch(/call {4}abort\n[\s\S]*CRASH {3}abort#1:after\n[\s\S]*survived: race/);
    expect(again.code).toBe(EXIT.survived);
  });

  it("explores the interleavings of a race on request, and says how much it went through", async () => {
    const args = ["--subject", "memory", "--no-cuts", "--explore", "--preemptions", "1", "--random", "2"];
    const { code, out } = await crashproof("races", "fork-vs-commit", ...args);
    expect(out).toMatch(/^race +fork-vs-commit\/interleavings +memory +(\d+) +\1 +0 +0/m);
    expect(out).toMatch(
      /^interleavings of races: \d+ to their ends, \d+ into a known state; \d+ states, \d+ transitions$/m,
    );
    expect(code).toBe(EXIT.survived);
  });

  it("ends with 1 where an order is answered wrongly, and prints the line that repeats it", async () => {
    const subject = ["--subject", "canary:consumed-item-cancelled"];
    const { code, out } = await crashproof("races", "cancel-vs-consumption", "--no-cuts", ...subject);
    expect(code).toBe(EXIT.violated);
    const [, id = ""] = /npx crashproof repro '([^']+)'/.exec(out) ?? [];
    expect(id).toBe("race/cancel-vs-consumption/canary:consumed-item-cancelled/consumption-first");
    const again = await crashproof("repro", id);
    expect(again.code).toBe(EXIT.violated);
    expect(again.out).toContain('cancelQueued was answered "cancelled" instead of "already_consumed"');
  });

  it("says what a subject cannot run", async () => {
    const { code, out } = await crashproof("races", "abort-vs-settlement", "--subject", "txlog");
    expect(out).toContain(
      "skipped: abort-vs-settlement on txlog: its application makes no calls beside a run",
    );
    expect(code).toBe(EXIT.inconclusive);
  });
});

describe("list", () => {
  it("names every scenario, subject, checker and canary with a line about it", async () => {
    const { code, out } = await crashproof("list");
    expect(code).toBe(EXIT.survived);
    for (const name of [
      ...SCENARIOS.map((scenario) => scenario.name),
      ...RACES.map((race) => race.name),
      ...allSubjects().map(({ id }) => id),
      ...CHECKS.map((check) => check.name),
      ...CANARIES.map((canary) => canary.name),
    ]) {
      expect(out).toMatch(new RegExp(`^ {2}${name} +\\S`, "m"));
    }
  });

  it("names the rows that commits are recognised as, once for each family", async () => {
    const { out } = await crashproof("list", "--rows");
    for (const { family, rows } of allSubjects()) {
      expect(out.match(new RegExp(`^Rows of ${family}$`, "gm"))).toHaveLength(1);
      for (const row of rows) expect(out).toContain(`\n  ${row}\n`);
    }
  });
});

describe("canaries", () => {
  // That all of them are caught is held beside the canaries.
  const HUNTED = ["torn-line-accepted", "stale-fence-accepted"];

  it("are caught, and each line says by whom and where", async () => {
    const { code, out } = await crashproof("canaries", ...HUNTED);
    expect(code).toBe(EXIT.survived);
    expect(out).toMatch(/\n2 of 2 caught\n$/);
    for (const { name, caughtBy } of CANARIES.filter((canary) => HUNTED.includes(canary.name))) {
      expect(out).toMatch(new RegExp(`^caught {2}${name} +${caughtBy} +.*canary:${name}`, "m"));
    }
  });

  it("live when their checker is switched off, and that ends with 1", async () => {
    const { code, out } = await crashproof("canaries", ...HUNTED, "--off", "single-writer");
    expect(code).toBe(EXIT.violated);
    expect(out).toMatch(/^LIVES {3}stale-fence-accepted +single-writer +seen by .*stored-state/m);
    expect(out).toMatch(/\n1 of 2 caught\n$/);
  });
});
