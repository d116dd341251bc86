/** `crashproof canaries`: every known-bad store and runtime must be caught by the checker that its header names. */
import type { Command } from "commander";
import { CANARIES, type Canary, hunt } from "../../fixtures/canaries/index.ts";
import { EXIT, type ExitCode, UsageError } from "./exit.ts";
import { checkersOf } from "./options.ts";
import { withHost } from "./session.ts";
import type { Streams } from "./streams.ts";

export function canaries(program: Command, streams: Streams, end: (code: ExitCode) => void): void {
  program
    .command("canaries")
    .argument("[canary...]", "canaries; all of them if none is named")
    .option(
      "--off <checker...>",
      "switch checkers off; a canary that then lives shows what they are needed for",
      [],
    )
    .description("show that the judges can fail: each canary breaks one promise and must be caught")
    .action(async (names: string[], { off }: { off: string[] }) => {
      const checkersOff = checkersOf(off);
      const hunted = canariesOf(names);
      let caughtCount = 0;
      await withHost({ quiet: true }, streams, async (host) => {
        for (const canary of hunted) {
          const catchOf = await hunt(canary, host, checkersOff);
          if (catchOf.caught) caughtCount++;
          const verdict = catchOf.caught ? "caught" : "LIVES ";
          streams.out(
            `${verdict}  ${canary.name.padEnd(28)} ${canary.caughtBy.padEnd(20)} ${catchOf.evidence}\n`,
          );
        }
      });
      streams.out(`${caughtCount} of ${hunted.length} caught\n`);
      // Nothing hunted shows nothing.
      if (hunted.length === 0) end(EXIT.inconclusive);
      else end(caughtCount === hunted.length ? EXIT.survived : EXIT.violated);
    });
}

/** The canaries of the given names; all of them if none is given. */
function canariesOf(names: readonly string[]): readonly Canary[] {
  const known = CANARIES.map(({ name }) => name);
  const stranger = names.find((name) => !known.includes(name));
  if (stranger !== undefined) {
    throw new UsageError(
      "UNKNOWN_CANARY",
      `no canary is called ${JSON.stringify(stranger)}; there are: ${known.join(", ")}`,
    );
  }
  return names.length === 0 ? CANARIES : CANARIES.filter(({ name }) => names.includes(name));
}
