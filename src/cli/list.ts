/** `crashproof list`: scenarios, races, subjects, checkers, canaries; with `--rows`, the rows that commits are recognised as. */
import type { Command } from "commander";
import { CANARIES } from "../../fixtures/canaries/index.ts";
import { RACES } from "../../races/index.ts";
import { SCENARIOS } from "../../scenarios/index.ts";
import { CHECKS } from "./checks.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { Streams } from "./streams.ts";
import { allSubjects } from "./subjects.ts";

export function list(program: Command, streams: Streams, end: (code: ExitCode) => void): void {
  program
    .command("list")
    .option("--rows", "the rows of the specification that commits are recognised as, by family of subjects")
    .description("what there is: scenarios, races, subjects, checkers, canaries")
    .action(({ rows }: { rows?: boolean }) => {
      streams.out(rows === true ? rowList() : everything());
      end(EXIT.survived);
    });
}

function everything(): string {
  return [
    section(
      "Scenarios",
      SCENARIOS.map(({ name, title }) => [name, title]),
    ),
    section(
      "Races",
      RACES.map(({ name, row, orders }) => [
        name,
        `${row.pair} (${orders.map((order) => order.name).join(", ")})`,
      ]),
    ),
    section(
      "Subjects",
      allSubjects().map(({ id, title }) => [id, title]),
    ),
    section(
      "Checkers",
      CHECKS.map(({ name, promise }) => [name, promise]),
    ),
    section(
      "Canaries",
      CANARIES.map(({ name, breaks, caughtBy }) => [name, `${breaks} (caught by ${caughtBy})`]),
    ),
  ].join("\n");
}

function rowList(): string {
  const families = new Map(allSubjects().map((subject) => [subject.family, subject.rows]));
  return [...families]
    .map(([family, rows]) =>
      section(
        `Rows of ${family}`,
        rows.map((row) => [row, ""]),
      ),
    )
    .join("\n");
}

function section(title: string, lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  return `${title}\n${lines.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`.trimEnd()).join("\n")}\n`;
}
