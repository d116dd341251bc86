/**
 * `crashproof torn-tail [FORMAT…]`: the bytes of the last commit, damaged in every way that their format has, and bits
 * flipped in everything that was committed. A format is named by the subject that writes it.
 */
import type { Command } from "commander";
import type { ExitCode } from "./exit.ts";
import { type FamilyOptions, familyPlan, withFamilyOptions } from "./family-plan.ts";
import { scenariosOf, subjectsOf } from "./names.ts";
import { amount, repeatable, wholeNumber } from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";

interface TornOptions extends FamilyOptions {
  readonly scenario: readonly string[];
  readonly places: "every" | number;
  readonly flips: "every" | number;
  readonly commits: number;
  readonly recoverEach?: boolean;
}

/** What is looked at unless the options say otherwise: a scenario that reaches every kind of character, in seconds. */
const DEFAULT_SCENARIOS = ["every-character"];
const DEFAULT_FLIPS = 64;
const DEFAULT_COMMITS = 16;

export function tornTail(
  program: Command,
  streams: Streams,
  end: (code: ExitCode) => void,
  line: string,
): void {
  withFamilyOptions(program.command("torn-tail"))
    .argument(
      "[format...]",
      "formats, by the subjects that write them: jsonl, sqlite, txlog …; all of them if none is named",
    )
    .description(
      "tear, double, zero and garble the last commit at every byte, and flip committed bits; read, reopen, resume",
    )
    .addOption(repeatable("--scenario <name>", "only this scenario", DEFAULT_SCENARIOS.join(", ")))
    .option("--places <n>", "places of one kind in a commit: a number, or every", amount("--places"), "every")
    .option(
      "--flips <n>",
      "bytes of each file in which a bit is flipped: a number, or every",
      amount("--flips"),
      DEFAULT_FLIPS,
    )
    .option(
      "--commits <n>",
      "commits of a scenario that are damaged, if it has more",
      wholeNumber("--commits", 1),
      DEFAULT_COMMITS,
    )
    .option("--recover-each", "recover from every damage, also where many of one kind are read alike")
    .action(async (formats: string[], options: TornOptions) => {
      const { places, flips, commits } = options;
      const plan = familyPlan(options, line, {
        scenarios: scenariosOf(options.scenario.length === 0 ? DEFAULT_SCENARIOS : options.scenario),
        subjects: subjectsOf(formats),
        torn: { places, flips, commitsMax: commits, recoverEach: options.recoverEach === true },
      });
      end(await runExploration(plan, options, streams));
    });
}
