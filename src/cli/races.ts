/** `crashproof races [RACE…]`: both orders of each race, each proven from its timeline and cut at every boundary. */
import type { Command } from "commander";
import type { ExitCode } from "./exit.ts";
import { type FamilyOptions, familyPlan, withFamilyOptions } from "./family-plan.ts";
import { racesOf, subjectsOf } from "./names.ts";
import { recoverEachOption, subjectOption, wholeNumber } from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";

interface RacesOptions extends FamilyOptions {
  readonly subject: readonly string[];
  readonly cuts: boolean;
  readonly explore?: boolean;
  readonly preemptions: number;
  readonly random: number;
  readonly runs: number;
  readonly recoverEach?: boolean;
}

const DEFAULT_PREEMPTIONS = 2;
const DEFAULT_RANDOM_RUNS = 20;
const DEFAULT_RUNS_MAX = 5_000;

function interleavingsOf({ preemptions, random, runs }: RacesOptions) {
  return { preemptions, randomRuns: random, runsMax: runs };
}

export function races(program: Command, streams: Streams, end: (code: ExitCode) => void, line: string): void {
  withFamilyOptions(program.command("races"))
    .argument("[race...]", "races; all of them if none is named")
    .description(
      "both orders of every race, each proven from its timeline, with its one history, and cut at every boundary",
    )
    .addOption(subjectOption("all whose applications make calls beside a run"))
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
    .addOption(recoverEachOption())
    .action(async (names: string[], options: RacesOptions) => {
      const plan = familyPlan(options, line, {
        scenarios: [],
        subjects: subjectsOf(options.subject).filter(({ story }) => options.subject.length > 0 || story),
        recoverEach: options.recoverEach === true,
        races: {
          races: racesOf(names),
          cuts: options.cuts,
          ...(options.explore === true ? { interleavings: interleavingsOf(options) } : {}),
        },
      });
      end(await runExploration(plan, options, streams));
    });
}
