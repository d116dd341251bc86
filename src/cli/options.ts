/**
 * The options that several commands share, and how their values are read. `names.ts` says what names stand for.
 */
import { availableParallelism } from "node:os";
import { type Command, Option } from "commander";
import type { Shard } from "../explore/index.ts";
import { DEFAULT_SEED } from "../faults/index.ts";
import { type UsageCode, UsageError } from "./exit.ts";

/** Options of every command that has a result. */
export interface ResultOptions {
  readonly json?: string;
  /** Whether host times are in the JSON. */
  readonly times: boolean;
}

/** Options of every command that explores. */
export interface CommonOptions extends ResultOptions {
  readonly seed: number;
  readonly quiet?: boolean;
  readonly workers: number;
  readonly shard?: Shard;
  readonly checkpoint?: string;
}

/** As many workers as there are cores, and no more than this: each has its own memory. */
const WORKERS_DEFAULT_MAX = 8;

export function withResultOptions(command: Command): Command {
  return command
    .option("--json <file>", "write the result as JSON (crashproof-result/1)")
    .option("--no-times", "no host times in the JSON, so that equal plans give equal bytes");
}

export function withCommonOptions(command: Command): Command {
  return withResultOptions(command)
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

/** The option of every command whose judges can be switched off. */
export function withOff(command: Command): Command {
  const off = repeatable("--off <checker>", "switch a checker off, to show that it is needed", "none");
  return command.addOption(off);
}

/** Which subjects are looked at; `otherwise` says in words which, if none is named. */
export function subjectOption(otherwise = "all"): Option {
  return repeatable("--subject <id>", "only this subject", otherwise);
}

/** Recoveries are shared by deaths that left the very same, unless this is given. */
export function recoverEachOption(): Option {
  return new Option(
    "--recover-each",
    "recover from every death by itself, also where several left the very same",
  );
}

/** An option that may be given several times; `otherwise` says in words what holds without it. */
export function repeatable(flags: string, description: string, otherwise: string): Option {
  const collect = (value: string, before: readonly string[]) => [...before, value];
  return new Option(flags, `${description} (repeatable)`).argParser(collect).default([], otherwise);
}

/** Reads a whole number from `least` to `most` for an option. */
export function wholeNumber(
  option: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return (text) => {
    const value = numberIn(text);
    if (value !== undefined && value >= least && value <= most) return value;
    throw unexpected("INVALID_NUMBER", option, `a whole number ${range}`, text);
  };
}

/** Reads `every`, or a whole number from 0, for an option. */
export function amount(option: string): (text: string) => "every" | number {
  return (text) => {
    const value = text === "every" ? text : numberIn(text);
    if (value !== undefined) return value;
    throw unexpected("INVALID_NUMBER", option, "a whole number of at least 0, or every", text);
  };
}

/** Reads a time with its unit for an option, as ms. */
export function duration(option: string): (text: string) => number {
  return (text) => {
    const [, count, unit = ""] = /^([1-9]\d*)(s|m|h)$/.exec(text) ?? [];
    const unitMs = UNITS_MS[unit];
    if (unitMs !== undefined) return Number(count) * unitMs;
    const expected = "a number of seconds, minutes or hours such as 90s, 10m or 1h";
    throw unexpected("INVALID_DURATION", option, expected, text);
  };
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Reads `2/4` for `--shard`. */
function shardOf(text: string): Shard {
  const [, index, count] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (index !== undefined && count !== undefined && index >= 1 && index <= count && count <= SHARDS_MAX) {
    return { index, count };
  }
  const expected = `i/n with i from 1 to n, and n at most ${SHARDS_MAX}, such as 2/4`;
  throw unexpected("INVALID_SHARD", "--shard", expected, text);
}

const SHARDS_MAX = 10_000;

/** The whole number that a text is; undefined for any other text, and for one too large to be told from its neighbours. */
function numberIn(text: string): number | undefined {
  const value = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
}

function unexpected(code: UsageCode, option: string, expected: string, text: string): UsageError {
  return new UsageError(code, `${option}: expected ${expected}, not ${JSON.stringify(text)}`);
}
