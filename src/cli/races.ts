/** `crashproof races [RACE…]`: both orders of each race, each proven from its timeline and cut at every boundary. */
import type { Command } from "commander";
import type { ExitCode } from "./exit.ts";
import {
  type CommonOptions,
  checkersOf,
  collect,
  racesOf,
  subjectsOf,
  withCommonOptions,
} from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";
import { VERSION } from "./version.ts";

interface RacesOptions extends CommonOptions {
  readonly subject: readonly string[];
  readonly cuts: boolean;
  readonly recoverEach?: boolean;
  readonly off: readonly string[];
}

export function races(program: Command, streams: Streams, end: (code: ExitCode) => void, line: string): void {
  withCommonOptions(program.command("races"))
    .argument("[race...]", "races; all of them if none is named")
    .description(
      "both orders of every race, each proven from its timeline, with its one history, and cut at every boundary",
    )
    .option("--subject <id>", "only this subject (repeatable)", collect, [])
    .option("--no-cuts", "run the orders without cutting them")
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
        races: { races: racesOf(names), cuts: options.cuts },
        version: VERSION,
        command: line,
      };
      end(await runExploration(plan, options, streams));
    });
}
