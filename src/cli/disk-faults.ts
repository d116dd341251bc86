/** `crashproof disk-faults [SCENARIO…]`: every call of a medium fails, once and from there on; then a healed disk. */
import type { Command } from "commander";
import type { ExitCode } from "./exit.ts";
import {
  amount,
  type CommonOptions,
  checkersOf,
  collect,
  scenariosOf,
  subjectsOf,
  withCommonOptions,
} from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";
import { VERSION } from "./version.ts";

interface DiskFaultsOptions extends CommonOptions {
  readonly subject: readonly string[];
  readonly calls: "every" | number;
  readonly off: readonly string[];
}

/** What is looked at unless scenarios are named: all that a run of tools commits, in under a minute. */
const DEFAULT_SCENARIOS = ["two-tools"];

export function diskFaults(
  program: Command,
  streams: Streams,
  end: (code: ExitCode) => void,
  line: string,
): void {
  withCommonOptions(program.command("disk-faults"))
    .argument("[scenario...]", `scenarios (default: ${DEFAULT_SCENARIOS.join(", ")})`)
    .description(
      "let storage fail at call 1, 2, 3 …, once and for good: EIO, ENOSPC, short writes, fsync, EPERM, SQLite's own; then go on on a healed disk",
    )
    .option("--subject <id>", "only this subject (repeatable)", collect, [])
    .option(
      "--calls <n>",
      "calls of each kind that fail, in each life: a number, or every",
      amount("--calls"),
      "every",
    )
    .option("--off <checker>", "switch a checker off, to show that it is needed (repeatable)", collect, [])
    .action(async (names: string[], options: DiskFaultsOptions) => {
      const plan = {
        scenarios: scenariosOf(names.length === 0 ? DEFAULT_SCENARIOS : names),
        subjects: subjectsOf(options.subject),
        seed: options.seed,
        depth: 1,
        skip: [],
        checkersOff: checkersOf(options.off),
        kill: "none" as const,
        cuts: false,
        diskFaults: { calls: options.calls },
        version: VERSION,
        command: line,
      };
      end(await runExploration(plan, options, streams));
    });
}
