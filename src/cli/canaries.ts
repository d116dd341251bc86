/** `crashproof canaries`: every known-bad store and runtime must be caught by the checker that its header names. */
import type { Command } from "commander";
import { hunt } from "../../fixtures/canaries/index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { canariesOf, checkersOf } from "./names.ts";
import { withOff } from "./options.ts";
import { withHost } from "./session.ts";
import type { Streams } from "./streams.ts";

export function canaries(program: Command, streams: Streams, end: (code: ExitCode) => void): void {
  withOff(program.command("canaries"))
    .argument("[canary...]", "canaries; all of them if none is named")
    .description("show that the judges can fail: each canary breaks one promise and must be caught")
    .action(async (names: string[], { off }: { readonly off: readonly string[] }) => {
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
