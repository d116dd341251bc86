/** `crashproof repro RUN-ID`: one run again, with its timeline. */
import type { Command } from "commander";
import { expectedOf, repro as repeat, verdictOf } from "../explore/index.ts";
import { parseRunId, type RunId, type Scenario, unscheduled } from "../faults/index.ts";
import { generatedCaseReport, timelineReport } from "../report/index.ts";
import type { Subject } from "../subject/index.ts";
import { EXIT, type ExitCode, UsageError } from "./exit.ts";
import { assertMixture, racesOf, scenariosOf, subjectsOf } from "./names.ts";
import { withHost, withKillPool } from "./session.ts";
import type { Streams } from "./streams.ts";

export function repro(program: Command, streams: Streams, end: (code: ExitCode) => void): void {
  program
    .command("repro")
    .argument("<run-id>", "as a failure printed it, e.g. crash/two-tools/sqlite/tool.settle.last#1:after")
    .description("repeat one run and print what was observed, event by event")
    .action(async (text: string) => {
      const parsed = parseRunId(text);
      if (!parsed.ok) throw new UsageError("INVALID_RUN_ID", parsed.error.message);
      end(await repeatRun(text, parsed.value, streams));
    });
}

async function repeatRun(text: string, id: RunId, streams: Streams): Promise<ExitCode> {
  const race = id.kind === "race" ? racesOf([id.scenario])[0] : undefined;
  const parts = {
    id,
    text,
    scenario: race === undefined ? scenarioOf(id) : unscheduled(race),
    subjects: subjectsFor(id),
    ...(race === undefined ? {} : { race }),
  };
  const expected = expectedOf(parts);
  if (expected !== undefined) {
    throw new UsageError("INVALID_RUN_ID", `no run: ${JSON.stringify(text)}; expected ${expected}`);
  }
  const { judgement, events, generated } = await withHost({ quiet: true }, streams, (host) =>
    id.kind === "kill" ? withKillPool(host, (killing) => repeat(parts, killing)) : repeat(parts, host),
  );
  const verdict = verdictOf(judgement);
  if (generated !== undefined) streams.out(`${generatedCaseReport(generated)}\n`);
  streams.out(`${timelineReport(events)}\n${verdict}: ${text}\n`);
  for (const { checker, signature, message } of judgement.violations) {
    streams.out(`  ${checker}: ${signature}\n    ${message.replaceAll("\n", "\n    ")}\n`);
  }
  if (judgement.limit !== undefined) {
    streams.out(`  not promised: ${judgement.limit.signature}\n    ${judgement.limit.message}\n`);
  }
  if (judgement.inconclusive !== undefined) streams.out(`  ${judgement.inconclusive.message}\n`);
  return EXIT[verdict];
}

/** The scenario of an id; a generated one is made from the id. */
function scenarioOf({ kind, scenario }: RunId): Scenario | undefined {
  if (kind !== "fuzz") return scenariosOf([scenario])[0];
  assertMixture(scenario);
  return undefined;
}

function subjectsFor({ kind, subject }: RunId): readonly Subject[] {
  return subjectsOf(["backends", "fuzz", "race"].includes(kind) ? subject.split("=") : [subject]);
}
