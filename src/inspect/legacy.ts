/**
 * A session of the older formats 1 to 3 (spec Appendix B): what it is read as, and what its reader passes over.
 */
import { isAbsolute } from "node:path";
import { Corruption } from "../foundation/index.ts";
import { LegacyVersionUnknown, readHeaderId, readV3 } from "../session/index.ts";
import type { ReaderFinding } from "./finding.ts";
import { linesIn } from "./jsonl.ts";
import { refusalFinding, sessionFinding } from "./session.ts";
import { printable } from "./words.ts";

/** What the bytes of a legacy file say. Reads the header of the file that it names as its parent, if there is one. */
export function legacyFinding(bytes: Buffer, nowMs: number): ReaderFinding {
  const file = { kind: "legacy_session", byteLength: bytes.length } as const;
  try {
    const { dump, version, warnings } = readV3(bytes, undefined, {
      parentIdOf: (path) => (isAbsolute(path) ? readHeaderId(path) : undefined),
    });
    return {
      ...file,
      verdict: "whole",
      says: `a session of the older format ${version}; it is read as it is, and its first commit writes it in format 4`,
      bytes: { keptBytes: bytes.length, keptLines: linesIn(bytes), lost: [] },
      session: sessionFinding(dump, { nowMs, hasLedger: false }),
      warnings: warnings.map(({ reason, message, line, byteOffset }) => ({
        reason,
        message: printable(message),
        line,
        byteOffset,
      })),
    };
  } catch (error) {
    if (error instanceof LegacyVersionUnknown) {
      const refusal = {
        reason: "legacy_version_unknown",
        message: printable(error.message),
        line: 1,
        byteOffset: 0,
      };
      return {
        ...file,
        verdict: "unreadable",
        says: "a session of an older format of no known version",
        refusal,
      };
    }
    if (!(error instanceof Corruption)) throw error;
    return {
      ...file,
      verdict: "damaged",
      says: "a session of an older format, damaged: none of it is given out, and the file is never cut or mended",
      refusal: refusalFinding(error),
    };
  }
}
