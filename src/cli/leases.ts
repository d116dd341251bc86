/** `crashproof leases [SCENARIO…]`: real processes that want one session. */
import type { Command } from "commander";
import type { ExitCode } from "./exit.ts";
import { type FamilyOptions, familyPlan, withFamilyOptions } from "./family-plan.ts";
import { scenariosOf, subjectsOf } from "./names.ts";
import { amount, subjectOption, wholeNumber } from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";

interface LeasesOptions extends FamilyOptions {
  readonly subject: readonly string[];
  readonly rounds: number;
  readonly processes: number;
  readonly commits: "every" | number;
}

const DEFAULT_SCENARIOS = ["two-tools"];
/** What is looked at unless subjects are named: all whose sessions outlive their process. */
const DEFAULT_SUBJECTS = ["jsonl", "sqlite", "txlog"];
const DEFAULT_ROUNDS = 1000;
const DEFAULT_PROCESSES = 4;

export function leases(
  program: Command,
  streams: Streams,
  end: (code: ExitCode) => void,
  line: string,
): void {
  withFamilyOptions(program.command("leases"))
    .argument("[scenario...]", `scenarios (default: ${DEFAULT_SCENARIOS.join(", ")})`)
    .description(
      "real processes on one session: many that resume it, of which one wins; an owner that is stopped (SIGSTOP) until its lease has run out; a commit against a takeover",
    )
    .addOption(subjectOption(DEFAULT_SUBJECTS.join(", ")))
    .option(
      "--rounds <n>",
      "rounds in which all resume one session",
      wholeNumber("--rounds", 0),
      DEFAULT_ROUNDS,
    )
    .option("--processes <n>", "processes that want it", wholeNumber("--processes", 2), DEFAULT_PROCESSES)
    .option(
      "--commits <n>",
      "commits before which an owner is stopped, and against which it is raced: a number, or every",
      amount("--commits"),
      "every",
    )
    .action(async (names: string[], options: LeasesOptions) => {
      const { rounds, processes, commits } = options;
      const plan = familyPlan(options, line, {
        scenarios: scenariosOf(names.length === 0 ? DEFAULT_SCENARIOS : names),
        subjects: subjectsOf(options.subject.length === 0 ? DEFAULT_SUBJECTS : options.subject),
        leases: { rounds, processes, commits },
      });
      end(await runExploration(plan, options, streams));
    });
}
