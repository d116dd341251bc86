/** Wrong usage ends with 2 before anything is explored, says what was expected, and has a documented code. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { takeExclusively } from "../subprocess/index.ts";
import { EXIT, type UsageCode } from "./exit.ts";
import { main } from "./main.ts";
import { crashproof } from "./testing/command.ts";

let folder: string;
let release: (() => void) | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "crashproof-usage-"));
  writeFileSync(join(folder, "file"), "");
  writeFileSync(join(folder, "notes"), "somebody's notes\n");
  writeFileSync(join(folder, "damaged.json"), '{"schema":"crashproof-result/1","shard":{"plan":{}}}');
  writeFileSync(join(folder, "whole.json"), '{"schema":"crashproof-result/1"}');
  symlinkSync("circle", join(folder, "circle"));
  release = takeExclusively(join(folder, "held.lock"));
  const shard = ["crash-points", "one-turn", "--subject", "memory", "--quiet", "--shard", "1/2"];
  for (const seed of ["1", "2"])
    await crashproof(...shard, "--seed", seed, "--json", join(folder, `${seed}.json`));
  await crashproof(...shard, "--checkpoint", join(folder, "checkpoint"));
});
afterAll(() => {
  release?.();
  rmSync(folder, { recursive: true });
});

/** `%` stands for the test's folder. */
const wrong: readonly (readonly [line: string, code: UsageCode, says: string])[] = [
  ["crash-points none-such", "UNKNOWN_SCENARIO", "there are: one-turn, two-tools,"],
  ["crash-points two-tools none-such", "UNKNOWN_SCENARIO", '"none-such"'],
  ["crash-points two-tools --subject floppy", "UNKNOWN_SUBJECT", "there are: memory, jsonl, sqlite"],
  ["crash-points two-tools --subject canary:none-such", "UNKNOWN_SUBJECT", '"canary:none-such"'],
  ["crash-points two-tools --off none-such", "UNKNOWN_CHECKER", "there are: row-conformance,"],
  ["canaries --off none-such", "UNKNOWN_CHECKER", "there are: row-conformance,"],
  ["canaries parrot", "UNKNOWN_CANARY", "there are: effect-before-intent,"],
  ["world-faults --kind earthquake", "UNKNOWN_FAULT", "there are: reply-overloaded,"],
  ["crash-points two-tools --skip none-such", "UNKNOWN_BOUNDARY", "crashproof list --rows"],
  ["crash-points two-tools --skip tool.settle#0", "UNKNOWN_BOUNDARY", '"tool.settle#0"'],
  ["crash-points two-tools --skip tool.settle#1:after", "UNKNOWN_BOUNDARY", '"tool.settle#1:after"'],
  [
    "crash-points two-tools --depth 0",
    "INVALID_NUMBER",
    '--depth: expected a whole number of at least 1, not "0"',
  ],
  [
    "crash-points two-tools --seed 1.5",
    "INVALID_NUMBER",
    '--seed: expected a whole number of at least 0, not "1.5"',
  ],
  ["run --seed -1", "INVALID_NUMBER", "--seed"],
  ["torn-tail --flips most", "INVALID_NUMBER", "--flips"],
  ["torn-tail --places many", "INVALID_NUMBER", 'at least 0, or every, not "many"'],
  ["world-faults --deaths 4", "INVALID_NUMBER", 'a whole number from 0 to 3, not "4"'],
  ["torn-tail floppy", "UNKNOWN_SUBJECT", "there are: memory, jsonl, sqlite"],
  ["torn-tail --scenario none-such", "UNKNOWN_SCENARIO", "there are: one-turn, two-tools,"],
  ["disk-faults --calls -1", "INVALID_NUMBER", "--calls"],
  ["fuzz --time soon", "INVALID_DURATION", "such as 90s, 10m or 1h"],
  ["fuzz --runs 0", "INVALID_NUMBER", "--runs"],
  ["repro fuzz/none-such/memory/3", "UNKNOWN_SCENARIO", "there are: plain, one-lane, several-lanes"],
  ["repro fuzz/one-lane/memory=floppy/3", "UNKNOWN_SUBJECT", "floppy"],
  ["races none-such", "UNKNOWN_RACE", "there are: prompt-vs-prompt,"],
  ["repro race/none-such/memory/one-first", "UNKNOWN_RACE", "none-such"],
  ["repro race/abort-vs-settlement/memory", "INVALID_RUN_ID", "expected a subject"],
  ["repro torn/two-tools/jsonl", "INVALID_RUN_ID", "expected a subject and a fault"],
  ["repro two-tools", "INVALID_RUN_ID", "expected a kind of run"],
  ["repro crash/two-tools/memory", "INVALID_RUN_ID", "expected at least one cut"],
  ["repro crash/two-tools/memory/tool.settle", "INVALID_RUN_ID", "expected at least one cut"],
  ["repro walk/none-such/memory", "UNKNOWN_SCENARIO", "none-such"],
  ["repro walk/two-tools/floppy", "UNKNOWN_SUBJECT", "floppy"],
  ["repro backends/two-tools/memory=floppy", "UNKNOWN_SUBJECT", "floppy"],
  ["repro backends/one-turn/memory=txlog", "INVALID_RUN_ID", "expected subjects of one family"],
  ["repro backends/one-turn/memory=memory", "INVALID_RUN_ID", "expected several subjects"],
  ["repro takeover/one-turn/memory/lane.seed#1:before", "INVALID_RUN_ID", "can take over, such as sqlite"],
  [
    "repro race/abort-vs-settlement/memory/none-first",
    "INVALID_RUN_ID",
    "order of the race: abort-first, response-first, or",
  ],
  ["repro walk/two-tools/memory?seed=x", "INVALID_RUN_ID", "nothing behind a ? but seed="],
  ["repro fuzz/plain/memory/x", "INVALID_RUN_ID", "the path to a case such as 17"],
  ["crash-points two-tools --json %", "UNWRITABLE_OUTPUT", "not of a folder"],
  ["crash-points two-tools --json %/none/r.json", "UNWRITABLE_OUTPUT", "ENOENT"],
  ["crash-points two-tools --json %/file/r.json", "UNWRITABLE_OUTPUT", "ENOTDIR"],
  ["crash-points two-tools --json=", "UNWRITABLE_OUTPUT", "not of a folder"],
  ["crash-points two-tools --json %/new/", "UNWRITABLE_OUTPUT", "not of a folder"],
  ["crash-points two-tools --json %/none/../r.json", "UNWRITABLE_OUTPUT", "ENOENT"],
  ["crash-points two-tools --json %/circle", "UNWRITABLE_OUTPUT", "ELOOP"],
  [
    "crash-points two-tools --json %/both --checkpoint %/both",
    "UNWRITABLE_OUTPUT",
    "the checkpoint is kept there",
  ],
  ["run --json %/none/r.json", "UNWRITABLE_OUTPUT", "ENOENT"],
  ["crash-points --workers 0", "INVALID_NUMBER", '--workers: expected a whole number of at least 1, not "0"'],
  ["crash-points --shard 0/4", "INVALID_SHARD", 'such as 2/4, not "0/4"'],
  ["crash-points --shard 5/4", "INVALID_SHARD", 'such as 2/4, not "5/4"'],
  ["run --shard 1", "INVALID_SHARD", 'such as 2/4, not "1"'],
  ["fuzz --time 1m --shard 1/2", "ENDS_BY_THE_CLOCK", "give --runs instead"],
  ["merge %/none", "UNREADABLE_SHARD", "ENOENT"],
  ["merge %/file", "UNREADABLE_SHARD", "JSON"],
  ["merge %/damaged.json", "UNREADABLE_SHARD", "its shard is damaged"],
  ["merge %/whole.json", "UNREADABLE_SHARD", "expected one that was made with --shard"],
  ["merge %/1.json", "SHARD_MISSING", "shard 2/2 missing"],
  ["merge %/1.json %/1.json", "SHARD_TWICE", "are both shard 1 of 2"],
  ["merge %/1.json %/2.json", "SHARDS_DIFFER", "seeds 1 and 2"],
  ["merge %/1.json --json %/none/r.json", "UNWRITABLE_OUTPUT", "ENOENT"],
  ["crash-points one-turn --checkpoint %/checkpoint", "FOREIGN_CHECKPOINT", "with another plan"],
  ["crash-points one-turn --checkpoint %/notes", "UNREADABLE_CHECKPOINT", "is no checkpoint"],
  ["crash-points one-turn --checkpoint %/held", "CHECKPOINT_IN_USE", "wait for it"],
  ["crash-points one-turn --checkpoint %", "UNWRITABLE_CHECKPOINT", "no regular file"],
  ["crash-points one-turn --checkpoint=", "UNWRITABLE_CHECKPOINT", "not of a folder"],
  ["crash-points one-turn --checkpoint %/new/", "UNWRITABLE_CHECKPOINT", "not of a folder"],
  ["crash-points one-turn --checkpoint %/none/c", "UNWRITABLE_CHECKPOINT", "ENOENT"],
];

describe("the output of --json", () => {
  const line = ["crash-points", "one-turn", "--subject", "memory", "--quiet", "--json"];

  it("replaces what a link names, and leaves the link", async () => {
    const [target, link] = [join(folder, "target.json"), join(folder, "link.json")];
    writeFileSync(target, "old");
    symlinkSync(target, link);
    expect((await crashproof(...line, link)).code).toBe(EXIT.survived);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, "utf8")).toContain("crashproof-result/1");
    rmSync(link);
    rmSync(target);
  });

  it("is made where a link to a link to nothing leads, and leaves both", async () => {
    const [made, near, far] = [
      join(folder, "made.json"),
      join(folder, "near.json"),
      join(folder, "far.json"),
    ];
    symlinkSync("made.json", near);
    symlinkSync("near.json", far);
    expect((await crashproof(...line, far)).code).toBe(EXIT.survived);
    for (const link of [near, far]) expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(lstatSync(made).isFile()).toBe(true);
    expect(readFileSync(made, "utf8")).toContain("crashproof-result/1");
    for (const path of [made, near, far]) rmSync(path);
  });

  it("is not there where it cannot be written any more: that is a failure, and no wrong usage", async () => {
    const place = join(folder, "place");
    mkdirSync(place);
    const out: string[] = [];
    const err: string[] = [];
    const words = ["crash-points", "one-turn", "--subject", "memory", "--json", join(place, "result.json")];
    const code = await main(words, {
      out: (text) => out.push(text),
      // Whoever is told of the progress takes the folder away.
      err: (text) => {
        err.push(text);
        rmSync(place, { recursive: true, force: true });
      },
      isTerminal: false,
    });
    expect(code).toBe(EXIT.failed);
    expect(out.join("")).toContain("survived: 21 survived");
    expect(err.at(-1)).toMatch(/^crashproof itself failed: the result could not be written to .*ENOENT.*\n$/);
    expect(existsSync(place)).toBe(false);
  });

  it("goes into a device, and never takes its place", async () => {
    // A link of the test's own, so that a defect costs it and no device of the machine.
    const device = join(folder, "device");
    symlinkSync("/dev/null", device);
    expect((await crashproof(...line, device)).code).toBe(EXIT.survived);
    expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
    expect(lstatSync(device).isSymbolicLink()).toBe(true);
    rmSync(device);
  });
});

describe("a wrong command line", () => {
  it.each(wrong)("ends with 2, its code and a hint: %s", async (line, code, says) => {
    const before = readdirSync(folder);
    const ran = await crashproof(...line.split(" ").map((word) => word.replaceAll("%", folder)));
    expect(ran.code).toBe(EXIT.usage);
    expect(ran.err).toContain(`[${code}]`);
    expect(ran.err).toContain(says);
    expect(ran.err).toMatch(/^crashproof: .*\n$/);
    expect(ran.out).toBe("");
    expect(readdirSync(folder)).toEqual(before);
  });

  it.each([
    ["none-such", "unknown command 'none-such'; there are: run, crash-points,"],
    ["crash-point one-turn --seed 1", "unknown command 'crash-point'; there are: run, crash-points,"],
    ["run one-turn", "run takes no arguments, and got 'one-turn'; crash-points takes scenarios"],
    ["crash-points --none-such", "unknown option '--none-such'"],
    ["crash-points --kill some", "Allowed choices are none, sample, all"],
    ["crash-points --seed 1 --seed 2", "option '--seed <n>' is given twice"],
    ["crash-points --json a.json --json=a.json", "option '--json <file>' is given twice"],
    ["merge a.json --json a.json --json b.json", "option '--json <file>' is given twice"],
    ["crash-points --json --quiet", "option '--json <file>' argument missing: '--quiet' is an option"],
    ["crash-points --subject --quiet", "option '--subject <id>' argument missing: '--quiet' is an option"],
    ["crash-points --json", "option '--json <file>' argument missing"],
    ["repro", "missing required argument 'run-id'"],
    ["list more", "too many arguments for 'list'"],
  ])("ends with 2 and points to the help where the words themselves are wrong: %s", async (line, says) => {
    const before = readdirSync(".");
    const ran = await crashproof(...line.split(" "));
    expect(ran.code).toBe(EXIT.usage);
    expect(ran.err).toMatch(/^error: .*\n\(see --help\)\n$/s);
    expect(ran.err).toContain(says);
    expect(readdirSync(".")).toEqual(before);
    expect(ran.out).toBe("");
  });

  it("has a code that the README documents; each is shown here", () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const [, section = ""] = readme.split("### Errors of the command line");
    const documented = [...(section.split("\n## ")[0] ?? "").matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)];
    const shown = new Set<string>(wrong.map(([, code]) => code));
    expect(new Set(documented.map(([, code]) => code))).toEqual(shown);
  });
});
