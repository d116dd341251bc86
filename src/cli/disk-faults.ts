/** `crashproof disk-faults [SCENARIO…]`: every call of a medium fails, once and from there on; then a healed disk. */
import type { Command } from "commander";
import type { ExitCode } from "./exit.ts";
import { type FamilyOptions, familyPlan, withFamilyOptions } from "./family-plan.ts";
import { scenariosOf, subjectsOf } from "./names.ts";
import { amount, subjectOption } from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";

interface DiskFaultsOptions extends FamilyOptions {
  readonly subject: readonly string[];
  readonly calls: "every" | number;
}

/** What is looked at unless scenarios are named: all that a run of tools commits, in under a minute. */
const DEFAULT_SCENARIOS = ["two-tools"];

export function diskFaults(
  program: Command,
  streams: Streams,
  end: (code: ExitCode) => void,
  line: string,
): void {
  withFamilyOptions(program.command("disk-faults"))
    .argument("[scenario...]", `scenarios (default: ${DEFAULT_SCENARIOS.join(", ")})`)
    .description(
      "let storage fail at call 1, 2, 3 …, once and for good: EIO, ENOSPC, short writes, fsync, EPERM, SQLite's own; then go on on a healed disk",
    )
    .addOption(subjectOption())
    .option(
      "--calls <n>",
      "calls of each kind that fail, in each life: a number, or every",
      amount("--calls"),
      "every",
    )
    .action(async (names: string[], options: DiskFaultsOptions) => {
      const plan = familyPlan(options, line, {
        scenarios: scenariosOf(names.length === 0 ? DEFAULT_SCENARIOS : names),
        subjects: subjectsOf(options.subject),
        diskFaults: { calls: options.calls },
      });
      end(await runExploration(plan, options, streams));
    });
}
