/**
 * `crashproof inspect FILE|DIR`: what a session file is, holds, and what recovery would do next. Writes nothing.
 */
import type { Command } from "commander";
import { RealClock } from "../foundation/index.ts";
import { INSPECT_SCHEMA, inspectionText, inspectPath, type Verdict } from "../inspect/index.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import type { Streams } from "./streams.ts";

/** What a verdict ends with: 1 says that a file was read and is refused, or breaks a rule. */
const EXIT_OF: Readonly<Record<Verdict, ExitCode>> = {
  whole: EXIT.survived,
  damaged: EXIT.violated,
  inconclusive: EXIT.inconclusive,
  unreadable: EXIT.usage,
  not_a_session: EXIT.usage,
};

export function inspect(program: Command, streams: Streams, end: (code: ExitCode) => void): void {
  program
    .command("inspect")
    .argument("<path>", "a session file of any format, or a folder, which is searched through")
    .option("--json", `print the finding as JSON (${INSPECT_SCHEMA})`)
    .description("what a session file is, holds, and what recovery would do next; never writes")
    .addHelpText(
      "after",
      `
Reads JSONL sessions of format 4 and of the older formats 3, 2 and 1, SQLite sessions, and transactional sessions; names
what writers left beside them. Works beside a live writer and on media that cannot be written; leaves no trace.

Exit codes: 0 whole (a torn tail is no damage) · 1 damaged, or breaks a rule · 2 no session, or cannot be read here ·
3 did not hold still, or was not looked at to its end. A folder ends with the worst of what is below it.`,
    )
    .action(async (path: string, { json }: { json?: boolean }) => {
      const inspection = await inspectPath(path, { nowMs: new RealClock().now() });
      streams.out(json === true ? `${JSON.stringify(inspection, null, 2)}\n` : inspectionText(inspection));
      end(EXIT_OF[inspection.verdict]);
    });
}
