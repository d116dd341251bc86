/** `crashproof [run]`: every scenario on every subject, with a sample of damaged bytes and of real kills. */
import type { Command } from "commander";
import type { ExitCode } from "./exit.ts";
import { type CommonOptions, scenariosOf, subjectsOf, withCommonOptions } from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";
import { VERSION } from "./version.ts";

/** A few damages of a few commits of each scenario; `crashproof torn-tail` does them all. */
const TORN_SAMPLE = { places: 2, flips: 4, commitsMax: 3, recoverEach: false };

export function run(program: Command, streams: Streams, end: (code: ExitCode) => void, line: string): void {
  withCommonOptions(program.command("run", { isDefault: true }))
    .description(
      "every scenario on every subject: all boundaries, a sample of damaged bytes and of real kills",
    )
    .action(async (options: CommonOptions) => {
      const plan = {
        scenarios: scenariosOf([]),
        subjects: subjectsOf([]),
        seed: options.seed,
        depth: 1,
        skip: [],
        checkersOff: [],
        kill: "sample" as const,
        torn: TORN_SAMPLE,
        version: VERSION,
        command: line,
      };
      end(await runExploration(plan, options, streams));
    });
}
