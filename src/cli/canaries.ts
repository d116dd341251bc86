/** `crashproof canaries`: every known-bad store and runtime must be caught by the checker that its header names. */
import type { Command } from "commander";
import { CANARIES, hunt } from "../../fixtures/canaries/index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { checkersOf } from "./options.ts";
import { withHost } from "./session.ts";
import type { Streams } from "./streams.ts";

export function canaries(program: Command, streams: Streams, end: (code: ExitCode) => void): void {
  program
    .command("canaries")
    .option(
      "--off <checker...>",
      "switch checkers off; a canary that then lives shows what they are needed for",
      [],
    )
    .description("show that the judges can fail: each canary breaks one promise and must be caught")
    .action(async ({ off }: { off: string[] }) => {
      const checkersOff = checkersOf(off);
      let caughtCount = 0;
      await withHost({ quiet: true }, streams, async (host) => {
        for (const canary of CANARIES) {
          const catchOf = await hunt(canary, host, checkersOff);
          if (catchOf.caught) caughtCount++;
          const verdict = catchOf.caught ? "caught" : "LIVES ";
          streams.out(
            `${verdict}  ${canary.name.padEnd(28)} ${canary.caughtBy.padEnd(20)} ${catchOf.evidence}\n`,
          );
        }
      });
      streams.out(`${caughtCount} of ${CANARIES.length} caught\n`);
      // Nothing hunted shows nothing.
      if (CANARIES.length === 0) end(EXIT.inconclusive);
      else end(caughtCount === CANARIES.length ? EXIT.survived : EXIT.violated);
    });
}
