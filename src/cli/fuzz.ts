/** `crashproof fuzz`: generated workloads under generated faults, by seed; a failure is shrunk to the smallest case like it. */
import type { Command } from "commander";
import { MIXTURES } from "../explore/index.ts";
import { RealClock } from "../foundation/index.ts";
import type { ExitCode } from "./exit.ts";
import { type FamilyOptions, familyPlan, withFamilyOptions } from "./family-plan.ts";
import { subjectsOf } from "./names.ts";
import { duration, subjectOption, wholeNumber } from "./options.ts";
import { runExploration } from "./session.ts";
import type { Streams } from "./streams.ts";

interface FuzzOptions extends FamilyOptions {
  readonly runs?: number;
  readonly time?: number;
  readonly subject: readonly string[];
}

/** Cases that are drawn if neither a number nor a time is given. */
const DEFAULT_RUNS = 200;
/** With a time and without a number; more than are run in a day. */
const ENDLESS_RUNS = 100_000;
const SHRINK = { triesMax: 400, timeMaxMs: 60_000 };

export function fuzz(program: Command, streams: Streams, end: (code: ExitCode) => void, line: string): void {
  withFamilyOptions(program.command("fuzz"))
    .description(
      "generated workloads on one lane and on several, under deaths and failing disks; judged by all judges and by a reference model, and held against each other",
    )
    .option(
      "--runs <n>",
      `cases (default: ${DEFAULT_RUNS}, unless --time is given)`,
      wholeNumber("--runs", 1),
    )
    .option("--time <duration>", "begin no case after this time: 90s, 10m, 1h", duration("--time"))
    .addOption(subjectOption())
    .action(async ({ runs, time, ...options }: FuzzOptions) => {
      const plan = familyPlan(options, line, {
        scenarios: [],
        subjects: subjectsOf(options.subject),
        fuzz: {
          runs: runs ?? (time === undefined ? DEFAULT_RUNS : ENDLESS_RUNS),
          ...(time === undefined ? {} : { untilMs: new RealClock().now() + time }),
          mixtures: MIXTURES,
          shrink: SHRINK,
        },
      });
      end(await runExploration(plan, options, streams));
    });
}
