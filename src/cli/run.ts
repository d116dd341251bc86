/**
 * `crashproof [run]`: every scenario on every subject, with samples of races, of damaged bytes, failing disks, a
 * misbehaving world, generated cases, processes that want one session, runs done twice and real kills.
 */
import type { Command } from "commander";
import { FUZZ_CORPUS } from "../../fixtures/fuzz-corpus/index.ts";
import { RACES } from "../../races/index.ts";
import { EVERY_ROW } from "../../scenarios/every-row.ts";
import { MIXTURES } from "../explore/index.ts";
import type { ExitCode } from "./exit.ts";
import { scenariosOf, subjectsOf } from "./names.ts";
import { type CommonOptions, withCommonOptions } from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";
import { VERSION } from "./version.ts";

/** A few damages of a few commits; `crashproof torn-tail` does them all. */
const TORN_SAMPLE = {
  scenarios: ["one-turn", "two-tools", "every-character"],
  places: 2,
  flips: 8,
  commitsMax: 3,
  recoverEach: false,
};

/**
 * On stores with files every boundary of the scenarios that make every row; of the others one in eight: all of theirs are
 * cut in memory, and what such a store adds does not depend on what is committed.
 */
const SAMPLED = { subjects: ["jsonl", "sqlite"], oneIn: 8 };

/** A few calls of each kind; `crashproof disk-faults` lets all of them fail. */
const DISK_FAULTS_SAMPLE = { scenarios: ["one-turn"], calls: 2 };

/** One fault of each sort; `crashproof world-faults` does them all, at every occurrence. */
const WORLD_FAULTS_SAMPLE = {
  scenarios: ["two-tools"],
  kinds: [
    "reply-hangs",
    "reply-malformed.null",
    "reply-malformed.calls-alike",
    "stream-ends",
    "tool-throws.error",
    "tool-returns.function-inside",
    "tool-hook-throws",
    "hook-throws",
    "listener-throws",
    "clock-back",
    "other-answer-after-restart",
  ],
  occurrences: 1,
  deaths: 1,
};

/** A few rounds of real processes; `crashproof leases` makes a thousand. */
const LEASES_SAMPLE = { scenarios: ["two-tools"], rounds: 2, processes: 3, commits: 1 };

/** A few runs of each subject, executed twice. */
const DETERMINISM_SAMPLE = { scenarios: ["two-tools"], deaths: 4 };

export function run(program: Command, streams: Streams, end: (code: ExitCode) => void, line: string): void {
  withCommonOptions(program.command("run", { isDefault: true }))
    .description(
      "every scenario on every subject: all boundaries in memory and of txlog; on stores with files all of the scenarios that make every row, and one in eight of the others, by the seed; a sample of damaged bytes, failing disks, races, a misbehaving world, generated cases, processes that want one session, runs done twice and real kills. `crash-points` cuts all of them",
    )
    .allowExcessArguments()
    .action(async (options: CommonOptions, { args: [word] }: Command) => {
      if (word !== undefined) refuse(word, program);
      const scenarios = scenariosOf([]);
      const plan = {
        scenarios,
        subjects: subjectsOf([]),
        seed: options.seed,
        depth: 1,
        skip: [],
        checkersOff: [],
        kill: "sample" as const,
        sampled: {
          ...SAMPLED,
          scenarios: scenarios.map(({ name }) => name).filter((name) => !EVERY_ROW.includes(name)),
        },
        torn: TORN_SAMPLE,
        diskFaults: DISK_FAULTS_SAMPLE,
        worldFaults: WORLD_FAULTS_SAMPLE,
        determinism: DETERMINISM_SAMPLE,
        leases: LEASES_SAMPLE,
        fuzz: { runs: 30, mixtures: MIXTURES, subjects: ["memory"], corpus: FUZZ_CORPUS },
        races: { races: RACES, subjects: ["memory"], cuts: false },
        version: VERSION,
        command: line,
      };
      end(await runExploration(plan, options, streams));
    });
}

/** As the command that is meant where none is named, this one is handed every misspelt name of another. */
function refuse(word: string, program: Command): never {
  if (program.args[0] === "run") {
    program.error(`error: run takes no arguments, and got '${word}'; crash-points takes scenarios`);
  }
  const known = program.commands.map((command) => command.name()).join(", ");
  return program.error(`error: unknown command '${word}'; there are: ${known}`);
}
