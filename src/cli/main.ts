/**
 * The command line: one file per command, and nothing here that is not a function of the library first.
 */
import { inspect as textOf } from "node:util";
import { Command, CommanderError } from "commander";
import { canaries } from "./canaries.ts";
import { crashPoints } from "./crash-points.ts";
import { diskFaults } from "./disk-faults.ts";
import { EXIT, type ExitCode, UsageError } from "./exit.ts";
import { fuzz } from "./fuzz.ts";
import { inspect } from "./inspect.ts";
import { leases } from "./leases.ts";
import { list } from "./list.ts";
import { merge } from "./merge.ts";
import { wordsOfPlan } from "./options.ts";
import { races } from "./races.ts";
import { repro } from "./repro.ts";
import { run } from "./run.ts";
import type { Streams } from "./streams.ts";
import { tornTail } from "./torn-tail.ts";
import { VERSION } from "./version.ts";
import { worldFaults } from "./world-faults.ts";

/** Runs one command line. Resolves to the exit code; never throws. */
export async function main(args: readonly string[], streams: Streams = hostStreams): Promise<ExitCode> {
  let code: ExitCode = EXIT.failed;
  const end = (ended: ExitCode) => {
    code = ended;
  };
  const line = ["npx crashproof", ...wordsOfPlan(args).map(shellWord)].join(" ");
  const program = new Command("crashproof")
    .description("Kill a durable agent runtime at every boundary, reopen it, resume it, compare.")
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: streams.out, writeErr: streams.err })
    .showHelpAfterError("(see --help)")
    .addHelpText(
      "after",
      "\nExit codes: 0 all survived · 1 a promise was broken · 2 wrong usage or unreadable input · 3 inconclusive · 4 crashproof itself failed",
    );
  run(program, streams, end, line);
  crashPoints(program, streams, end, line);
  tornTail(program, streams, end, line);
  diskFaults(program, streams, end, line);
  races(program, streams, end, line);
  fuzz(program, streams, end, line);
  worldFaults(program, streams, end, line);
  leases(program, streams, end, line);
  merge(program, streams, end);
  repro(program, streams, end);
  inspect(program, streams, end);
  list(program, streams, end);
  canaries(program, streams, end);
  for (const command of program.commands) readStrictly(command);
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.survived : EXIT.usage;
    if (error instanceof UsageError) {
      streams.err(`crashproof: ${error.message} [${error.code}]\n`);
      return EXIT.usage;
    }
    // With what caused it: a storage that could not write says why only there.
    streams.err(`crashproof itself failed: ${textOf(error)}\n`);
    return EXIT.failed;
  }
}

/**
 * Refuses what would be read otherwise than it was meant, without a word: a value that is given twice, of which the last
 * would count, and an option that stands where the value of the one before it is missing.
 */
function readStrictly(command: Command): void {
  for (const option of command.options.filter(({ required }) => required)) {
    const isRepeatable = Array.isArray(option.defaultValue);
    let isGiven = false;
    command.on(`option:${option.name()}`, (value: string) => {
      if (value.startsWith("--")) {
        command.error(`error: option '${option.flags}' argument missing: '${value}' is an option`);
      }
      if (isGiven && !isRepeatable) command.error(`error: option '${option.flags}' is given twice`);
      isGiven = true;
    });
  }
}

/** An argument as a shell takes it back. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const hostStreams: Streams = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY === true,
};
