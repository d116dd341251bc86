/** `crashproof world-faults [SCENARIO…]`: providers, tools, hooks, listeners and the clock misbehave, one after another. */
import type { Command } from "commander";
import { EXIT, type ExitCode } from "./exit.ts";
import { type FamilyOptions, familyPlan, withFamilyOptions } from "./family-plan.ts";
import { scenariosOf, subjectsOf, worldFaultsOf } from "./names.ts";
import { amount, repeatable, subjectOption, wholeNumber } from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";

interface WorldFaultsOptions extends FamilyOptions {
  readonly subject: readonly string[];
  readonly kind: readonly string[];
  readonly occurrences: "every" | number;
  readonly deaths: number;
  readonly list?: boolean;
}

/** What is looked at unless scenarios are named: requests, tools, hooks and events in one run. */
const DEFAULT_SCENARIOS = ["two-tools"];
/** There are no more: around the next commit after the fault, and before the last one. */
const DEATHS_MAX = 3;

export function worldFaults(
  program: Command,
  streams: Streams,
  end: (code: ExitCode) => void,
  line: string,
): void {
  withFamilyOptions(program.command("world-faults"))
    .argument("[scenario...]", `scenarios (default: ${DEFAULT_SCENARIOS.join(", ")})`)
    .description(
      "let the world misbehave: answers cut off, malformed or never given, tools that throw, hang or return nonsense, failing hooks and listeners, a stepping clock, another answer after a restart; then die and recover",
    )
    .addOption(subjectOption())
    .addOption(repeatable("--kind <name>", "only this kind of fault", "all"))
    .option("--list", "print the kinds of faults, by subject, and do nothing else")
    .option(
      "--occurrences <n>",
      "occurrences of each kind in a run: a number, or every",
      amount("--occurrences"),
      "every",
    )
    .option("--deaths <n>", "deaths after each fault", wholeNumber("--deaths", 0, DEATHS_MAX), DEATHS_MAX)
    .action(async (names: string[], options: WorldFaultsOptions) => {
      const subjects = subjectsOf(options.subject);
      if (options.list === true) {
        for (const { id, worldFaults: kinds = [] } of subjects) {
          for (const { name } of kinds) streams.out(`${id.padEnd(10)} ${name}\n`);
        }
        end(EXIT.survived);
        return;
      }
      const { occurrences, deaths } = options;
      const kinds = worldFaultsOf(options.kind, subjects);
      const plan = familyPlan(options, line, {
        scenarios: scenariosOf(names.length === 0 ? DEFAULT_SCENARIOS : names),
        subjects,
        worldFaults: { occurrences, deaths, ...(kinds.length === 0 ? {} : { kinds }) },
      });
      end(await runExploration(plan, options, streams));
    });
}
