/**
 * The options that several commands share, and what the words on the command line stand for.
 *
 * Every name is looked up before anything runs; an unknown one is answered with the names there are.
 */
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { RACES, raceByName } from "../../races/index.ts";
import { SCENARIOS, scenarioByName } from "../../scenarios/index.ts";
import { UNRECOGNISED } from "../checkers/index.ts";
import type { Shard } from "../explore/index.ts";
import { DEFAULT_SEED, EFFECT_LABELS, type Race, type Scenario } from "../faults/index.ts";
import type { Subject } from "../subject/index.ts";
import { CHECKS } from "./checks.ts";
import { UsageError } from "./exit.ts";
import { allSubjects, subjectById } from "./subjects.ts";

/** Options of every command that explores. */
export interface CommonOptions {
  readonly seed: number;
  readonly json?: string;
  readonly quiet?: boolean;
  readonly workers: number;
  readonly shard?: Shard;
  readonly checkpoint?: string;
  /** Whether host times are in the JSON. */
  readonly times: boolean;
}

/** Options of every command that cuts. */
export interface CutOptions extends CommonOptions {
  readonly subject: readonly string[];
  readonly depth: number;
  readonly kill: "none" | "sample" | "all";
  readonly skip: readonly string[];
  readonly off: readonly string[];
  readonly recoverEach?: boolean;
}

/** As many workers as there are cores, and no more than this: each has its own memory. */
const WORKERS_DEFAULT_MAX = 8;

export function withCommonOptions(command: Command): Command {
  return command
    .option("--json <file>", "write the result as JSON (crashproof-result/1)")
    .option("--seed <n>", "seed of ids and samples", wholeNumber("--seed", 0), DEFAULT_SEED)
    .option(
      "--workers <n>",
      "threads that explore side by side; the result is the same for any number",
      wholeNumber("--workers", 1),
      Math.min(availableParallelism(), WORKERS_DEFAULT_MAX),
    )
    .option("--shard <i/n>", "only the i-th of n parts of the plan, for `crashproof merge`", shardOf)
    .option(
      "--checkpoint <file>",
      "keep what is finished in this file, and take up what is in it: for an explorer that may be killed",
    )
    .option("--no-times", "no host times in the JSON, so that equal plans give equal bytes")
    .option("--quiet", "no progress on stderr");
}

/** Options that say how to explore and where results go, and not what: a command line without them repeats the plan. */
const HOST_OPTIONS = new Set(["--json", "--workers", "--shard", "--checkpoint"]);
const HOST_FLAGS = new Set(["--quiet", "--no-times"]);

/** The words of a command line that decide what is found. */
export function wordsOfPlan(words: readonly string[]): readonly string[] {
  return words.filter((word, place) => {
    const name = word.split("=", 1)[0] ?? "";
    const isValue = HOST_OPTIONS.has(words[place - 1] ?? "");
    return !isValue && !HOST_FLAGS.has(word) && !HOST_OPTIONS.has(name);
  });
}

/** Reads `2/4` for `--shard`. */
function shardOf(text: string): Shard {
  const [, index, count] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (index === undefined || count === undefined || index < 1 || index > count || count > SHARDS_MAX) {
    const expected = `expected i/n with i from 1 to n, and n at most ${SHARDS_MAX}, such as 2/4`;
    throw new UsageError("INVALID_SHARD", `--shard: ${expected}, not ${JSON.stringify(text)}`);
  }
  return { index, count };
}

const SHARDS_MAX = 10_000;

/** The option of every command whose judges can be switched off. */
export function withOff(command: Command): Command {
  return command.option(
    "--off <checker>",
    "switch a checker off, to show that it is needed (repeatable)",
    collect,
    [],
  );
}

export function withCutOptions(command: Command): Command {
  return withOff(withCommonOptions(command))
    .option("--subject <id>", "only this subject (repeatable)", collect, [])
    .option(
      "--depth <n>",
      "deaths in one run: 1, 2 cuts every recovery again, 3 …",
      wholeNumber("--depth", 1),
      1,
    )
    .option(
      "--skip <boundary>",
      "leave a boundary out, e.g. tool.settle or tool.intent#2 (repeatable; the result is inconclusive)",
      collect,
      [],
    )
    .option("--recover-each", "recover from every death by itself, also where several left the very same");
}

/** The scenarios of the given names; all of them if none is given. */
export function scenariosOf(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return SCENARIOS;
  return unique(names).map((name) => {
    const scenario = scenarioByName(name);
    if (scenario === undefined) {
      throw new UsageError(
        "UNKNOWN_SCENARIO",
        unknown(
          "scenario",
          name,
          SCENARIOS.map((known) => known.name),
        ),
      );
    }
    return scenario;
  });
}

/** The races of the given names; all of them if none is given. */
export function racesOf(names: readonly string[]): readonly Race[] {
  if (names.length === 0) return RACES;
  return unique(names).map((name) => {
    const race = raceByName(name);
    if (race !== undefined) return race;
    const known = RACES.map(({ name: one }) => one);
    throw new UsageError("UNKNOWN_RACE", unknown("race", name, known));
  });
}

/** The subjects of the given ids; the built-in ones if none is given. */
export function subjectsOf(ids: readonly string[]): readonly Subject[] {
  if (ids.length === 0) return allSubjects();
  return unique(ids).map((id) => {
    const subject = subjectById(id);
    if (subject === undefined) {
      throw new UsageError(
        "UNKNOWN_SUBJECT",
        unknown(
          "subject",
          id,
          allSubjects().map((known) => known.id),
        ),
      );
    }
    return subject;
  });
}

/** Checks the names of checkers to switch off. */
export function checkersOf(names: readonly string[]): readonly string[] {
  for (const name of names) {
    if (!CHECKS.some((checker) => checker.name === name)) {
      throw new UsageError(
        "UNKNOWN_CHECKER",
        unknown(
          "checker",
          name,
          CHECKS.map((known) => known.name),
        ),
      );
    }
  }
  return unique(names);
}

/** Checks boundaries to leave out: labels that the subjects or the world know, with or without an occurrence. */
export function boundariesOf(names: readonly string[], subjects: readonly Subject[]): readonly string[] {
  const known = new Set<string>([...EFFECT_LABELS, UNRECOGNISED]);
  for (const { rows } of subjects) for (const row of rows) known.add(row);
  for (const name of names) {
    const [, label = ""] = /^([^#]+)(?:#[1-9]\d*)?$/.exec(name) ?? [];
    if (!known.has(label)) {
      throw new UsageError(
        "UNKNOWN_BOUNDARY",
        `no boundary is called ${JSON.stringify(name)}; expected a label of \`crashproof list --rows\`, or ` +
          `${EFFECT_LABELS.join(", ")}; with #2 for the second one only`,
      );
    }
  }
  return names;
}

/** Reads a whole number of at least `least` for an option. */
export function wholeNumber(option: string, least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new UsageError(
        "INVALID_NUMBER",
        `${option}: expected a whole number of at least ${least}, not ${JSON.stringify(text)}`,
      );
    }
    return value;
  };
}

/** Reads a time with its unit for an option, as ms. */
export function duration(option: string): (text: string) => number {
  return (text) => {
    const [, count, unit = ""] = /^([1-9]\d*)(s|m|h)$/.exec(text) ?? [];
    const unitMs = UNITS_MS[unit];
    if (unitMs === undefined) {
      throw new UsageError(
        "INVALID_DURATION",
        `${option}: expected a number of seconds, minutes or hours such as 90s, 10m or 1h, not ${JSON.stringify(text)}`,
      );
    }
    return Number(count) * unitMs;
  };
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Reads `every`, or a whole number from 0, for an option. */
export function amount(option: string): (text: string) => "every" | number {
  const count = wholeNumber(option, 0);
  return (text) => (text === "every" ? "every" : count(text));
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** A name that is given twice is looked at once: counted twice it would look like more. */
function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

function unknown(what: string, name: string, known: readonly string[]): string {
  return `no ${what} is called ${JSON.stringify(name)}; there are: ${known.join(", ")}`;
}
