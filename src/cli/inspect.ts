/**
 * `crashproof inspect FILE`: what a session file is and holds. Reads the bytes once, writes nothing.
 *
 * Exit code 1 says that the file is damaged: it was read, and is refused.
 */
import { readFileSync, statSync } from "node:fs";
import type { Command } from "commander";
import { txlogReport } from "../report/index.ts";
import { inspectTxlog } from "../txlog/index.ts";
import { EXIT, type ExitCode, UsageError } from "./exit.ts";
import type { Streams } from "./streams.ts";

/** The schema of the JSON output. */
const INSPECT_SCHEMA = "crashproof-inspect/1";

export function inspect(program: Command, streams: Streams, end: (code: ExitCode) => void): void {
  program
    .command("inspect")
    .argument("<file>", "a transactional session file")
    .option("--json", `print JSON (${INSPECT_SCHEMA}); the finding is under the key "txlog"`)
    .description("what a session file is, holds, and where recovery stands; never writes")
    .action((file: string, { json }: { json?: boolean }) => {
      const bytes = bytesOf(file);
      const txlog = inspectTxlog(bytes);
      const output = { schema: INSPECT_SCHEMA, file, byteCount: bytes.length, txlog };
      streams.out(
        json === true ? `${JSON.stringify(output, null, 2)}\n` : txlogReport(file, bytes.length, txlog),
      );
      end(txlog.ok ? EXIT.survived : EXIT.violated);
    });
}

function bytesOf(file: string): Uint8Array {
  let bytes: Buffer;
  try {
    // A device may have no end. A pipe has one, and is how a shell hands in the output of another program.
    if (statSync(file).isCharacterDevice()) throw new Error("a device is no session file");
    bytes = readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError("UNREADABLE_FILE", `cannot read ${file}: ${reason}`);
  }
  const format = otherFormatOf(bytes);
  if (format !== undefined) {
    throw new UsageError(
      "UNKNOWN_FORMAT",
      `${file} is ${format}; inspect reads transactional session files, whose first line is {"kind":"header","version":2,…}`,
    );
  }
  return bytes;
}

/** What else the file plainly is, so that it is not called a damaged file of a kind that it never was. */
function otherFormatOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 16).toString("latin1") === "SQLite format 3\u0000") return "a SQLite database";
  if (/^\s*\{"v":4,"kind":"header"/.test(bytes.subarray(0, 64).toString("latin1")))
    return "a JSONL session of format 4";
  // Older headers of both kinds begin alike; only this version belongs to one of them alone.
  if (/^\s*\{"type":"session","version":3\b/.test(bytes.subarray(0, 64).toString("latin1")))
    return "a JSONL session of format 3";
  return undefined;
}
