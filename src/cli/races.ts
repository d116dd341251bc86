/** `crashproof races [RACE…]`: both orders of each race, each proven from its timeline and cut at every boundary. */
import type { Command } from "commander";
import type { ExitCode } from "./exit.ts";
import {
  type CommonOptions,
  checkersOf,
  collect,
  racesOf,
  subjectsOf,
  wholeNumber,
  withCommonOptions,
} from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";
import { VERSION } from "./version.ts";

interface RacesOptions extends CommonOptions {
  readonly subject: readonly string[];
  readonly cuts: boolean;
  readonly explore?: boolean;
  readonly preemptions: number;
  readonly random: number;
  readonly runs: number;
  readonly recoverEach?: boolean;
  readonly off: readonly string[];
}

const DEFAULT_PREEMPTIONS = 2;
const DEFAULT_RANDOM_RUNS = 20;
const DEFAULT_RUNS_MAX = 5_000;

function interleavingsOf({ preemptions, random, runs }: RacesOptions) {
  return { preemptions, randomRuns: random, runsMax: runs };
}

export function races(program: Command, streams: Streams, end: (code: ExitCode) => void, line: string): void {
  withCommonOptions(program.command("races"))
    .argument("[race...]", "races; all of them if none is named")
    .description(
      "both orders of every race, each proven from its timeline, with its one history, and cut at every boundary",
    )
    .option("--subject <id>", "only this subject (repeatable)", collect, [])
    .option("--no-cuts", "run the orders without cutting them")
    .option("--explore", "explore all interleavings of the calls with the steps of the run, within a bound")
    .option(
      "--preemptions <n>",
      "the bound: how often a run is interrupted that could go on",
      wholeNumber("--preemptions", 0),
      DEFAULT_PREEMPTIONS,
    )
    .option(
      "--random <n>",
      "runs with random priorities, for what the bound leaves out",
      wholeNumber("--random", 0),
      DEFAULT_RANDOM_RUNS,
    )
    .option(
      "--runs <n>",
      "the most interleavings of a race on a subject",
      wholeNumber("--runs", 1),
      DEFAULT_RUNS_MAX,
    )
    .option("--recover-each", "recover from every death by itself, also where several left the very same")
    .option("--off <checker>", "switch a checker off, to show that it is needed (repeatable)", collect, [])
    .action(async (names: string[], options: RacesOptions) => {
      const plan = {
        scenarios: [],
        subjects: subjectsOf(options.subject).filter(({ story }) => options.subject.length > 0 || story),
        seed: options.seed,
        depth: 1,
        skip: [],
        checkersOff: checkersOf(options.off),
        recoverEach: options.recoverEach === true,
        kill: "none" as const,
        races: {
          races: racesOf(names),
          cuts: options.cuts,
          ...(options.explore === true ? { interleavings: interleavingsOf(options) } : {}),
        },
        version: VERSION,
        command: line,
      };
      end(await runExploration(plan, options, streams));
    });
}
