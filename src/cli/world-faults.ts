/** `crashproof world-faults [SCENARIO…]`: providers, tools, hooks, listeners and the clock misbehave, one after another. */
import type { Command } from "commander";
import { EXIT, type ExitCode, UsageError } from "./exit.ts";
import { type FamilyOptions, familyPlan, withFamilyOptions } from "./family-plan.ts";
import { amount, collect, scenariosOf, subjectsOf, wholeNumber } from "./options.ts";
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
const DEFAULT_DEATHS = 3;

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
    .option("--subject <id>", "only this subject (repeatable)", collect, [])
    .option("--kind <name>", "only this kind of fault (repeatable)", collect, [])
    .option("--list", "print the kinds of faults, by subject, and do nothing else")
    .option(
      "--occurrences <n>",
      "occurrences of each kind in a run: a number, or every",
      amount("--occurrences"),
      "every",
    )
    .option("--deaths <n>", "deaths after each fault, at most 3", wholeNumber("--deaths", 0), DEFAULT_DEATHS)
    .action(async (names: string[], options: WorldFaultsOptions) => {
      const subjects = subjectsOf(options.subject);
      if (options.list === true) {
        for (const { id, worldFaults: kinds = [] } of subjects) {
          for (const { name } of kinds) streams.out(`${id.padEnd(10)} ${name}\n`);
        }
        end(EXIT.survived);
        return;
      }
      const known = new Set(subjects.flatMap(({ worldFaults: kinds = [] }) => kinds.map(({ name }) => name)));
      for (const name of options.kind) {
        if (!known.has(name)) {
          throw new UsageError(
            "UNKNOWN_FAULT",
            `no fault of the world is called ${JSON.stringify(name)}; there are: ${[...known].join(", ")}`,
          );
        }
      }
      const { occurrences, deaths, kind } = options;
      const plan = familyPlan(options, line, {
        scenarios: scenariosOf(names.length === 0 ? DEFAULT_SCENARIOS : names),
        subjects,
        worldFaults: { occurrences, deaths, ...(kind.length === 0 ? {} : { kinds: kind }) },
      });
      end(await runExploration(plan, options, streams));
    });
}
