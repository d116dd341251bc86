/** `crashproof crash-points [SCENARIO…]`: cut at every boundary, on every subject. */
import { type Command, Option } from "commander";
import type { ExitCode } from "./exit.ts";
import { type FamilyOptions, withFamilyOptions } from "./family-plan.ts";
import { boundariesOf, checkersOf, scenariosOf, subjectsOf } from "./names.ts";
import { recoverEachOption, repeatable, subjectOption, wholeNumber } from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";
import { VERSION } from "./version.ts";

interface CrashPointsOptions extends FamilyOptions {
  readonly subject: readonly string[];
  readonly depth: number;
  readonly deeperOneIn: number;
  readonly kill: "none" | "sample" | "all";
  readonly skip: readonly string[];
  readonly recoverEach?: boolean;
}

/** All third deaths of a scenario are some tens of thousands. */
const DEEPER_ONE_IN = 50;

export function crashPoints(
  program: Command,
  streams: Streams,
  end: (code: ExitCode) => void,
  line: string,
): void {
  withFamilyOptions(program.command("crash-points"))
    .argument("[scenario...]", "scenarios; all of them if none is named")
    .description("cut every boundary of the scenarios, reopen, resume, compare with the run that nobody cut")
    .addOption(subjectOption())
    .option(
      "--depth <n>",
      "deaths in one run: 1, 2 cuts every recovery again, 3 …",
      wholeNumber("--depth", 1),
      1,
    )
    .addOption(
      repeatable(
        "--skip <boundary>",
        "leave a boundary out, e.g. tool.settle or tool.intent#2, which makes the result inconclusive",
        "none",
      ),
    )
    .addOption(recoverEachOption())
    .addOption(
      new Option("--kill <which>", "kill real processes at the same boundaries")
        .choices(["none", "sample", "all"])
        .default("none"),
    )
    .option(
      "--deeper-one-in <n>",
      "with a depth of 3 or more: of third and later deaths one in n, drawn by the seed; 1 is all",
      wholeNumber("--deeper-one-in", 1),
      DEEPER_ONE_IN,
    )
    .action(async (names: string[], options: CrashPointsOptions) => {
      const subjects = subjectsOf(options.subject);
      const plan = {
        scenarios: scenariosOf(names),
        subjects,
        seed: options.seed,
        depth: options.depth,
        ...(options.depth > 2 ? { deeperOneIn: options.deeperOneIn } : {}),
        skip: boundariesOf(options.skip, subjects),
        checkersOff: checkersOf(options.off),
        recoverEach: options.recoverEach === true,
        kill: options.kill,
        version: VERSION,
        command: line,
      };
      end(await runExploration(plan, options, streams));
    });
}
