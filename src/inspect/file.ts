/** One file, whatever it is: recognised, read by the reader of its kind, and said. Throws for no file. */
import { dirname, join } from "node:path";
import { hostFileSystem, leftoversOf } from "../storage/index.ts";
import { inspectTxlog } from "../txlog/index.ts";
import type { BesideFinding, FileFinding, LookedAt, ReaderFinding } from "./finding.ts";
import { jsonlFinding } from "./jsonl.ts";
import { legacyFinding } from "./legacy.ts";
import { beginningOf, bytesOfOneMoment, lookAt, systemSays } from "./open-file.ts";
import { BEGINNING_BYTES, type Recognised, recogniseFile } from "./recognise-file.ts";
import { sideFilesOf, sqliteFinding } from "./sqlite.ts";
import { transactionalFinding } from "./transactional.ts";
import { counted, printable } from "./words.ts";

/** Takes a file for what its beginning and name say. @throws the host's error if it cannot be read */
export function recognisedAt(path: string, byteLength: number): Recognised {
  const beginning = beginningOf(path, BEGINNING_BYTES);
  return recogniseFile(path, beginning, byteLength <= beginning.length);
}

/** See the module header. `byteLength` is that of the file when it was found. */
export async function lookAtFile(path: string, byteLength: number, nowMs: number): Promise<LookedAt> {
  try {
    const recognised = recognisedAt(path, byteLength);
    if (byteLength > BYTES_MAX && recognised.kind !== "other") {
      const says = `unreadable: it has ${counted(byteLength, "byte")}, and at most ${counted(BYTES_MAX, "byte")} are read at once`;
      return { file: { path, kind: "other", verdict: "unreadable", says, byteLength, beside: [] } };
    }
    const { txlog, ...finding } = await findingOf(path, recognised, byteLength, nowMs);
    const file = { path, ...finding, beside: besideOf(path, finding.kind) };
    return txlog === undefined ? { file } : { file, txlog };
  } catch (error) {
    if (!isOfSystem(error)) return { file: { path, ...ownFailure(error), byteLength, beside: [] } };
    const says = `unreadable: ${systemSays(error)}`;
    return { file: { path, kind: "other", verdict: "unreadable", says, byteLength, beside: [] } };
  }
}

/** A file is held in memory as a whole, and what it says some times over. */
const BYTES_MAX = 2 ** 30;

async function findingOf(
  path: string,
  recognised: Recognised,
  byteLength: number,
  nowMs: number,
): Promise<ReaderFinding> {
  switch (recognised.kind) {
    case "jsonl_session":
      return withBytes(path, "jsonl_session", (bytes) => jsonlFinding(bytes, nowMs));
    case "legacy_session":
      return withBytes(path, "legacy_session", (bytes) => ({
        ...legacyFinding(bytes, nowMs),
        // Headers of old versions of both kinds begin alike, so the file may be meant for this reader too.
        txlog: inspectTxlog(bytes),
      }));
    case "transactional_session":
      return withBytes(path, "transactional_session", transactionalFinding);
    case "sqlite_database":
      return sqliteFinding(path, nowMs);
    case "journal":
      return {
        kind: "journal",
        verdict: "unreadable",
        says: recognised.isCompressed
          ? "zstandard frames, as an event journal is written in; this version of crashproof reads no journals yet"
          : "an event journal; this version of crashproof reads no journals yet",
        byteLength,
      };
    case "leftover":
      return {
        kind: "leftover",
        verdict: "not_a_session",
        says: `an unfinished file beside ${printable(recognised.owner)}, of a writer that died or is at work: never read as a session, and free to be deleted once no writer is at work`,
        byteLength,
      };
    case "lock":
      return {
        kind: "leftover",
        verdict: "not_a_session",
        says: "the lock file of an event journal: its writer holds it locked while it lives, and never removes it",
        byteLength,
      };
    case "side_file": {
      const isOwned = lookAt(join(dirname(path), recognised.owner)).kind === "file";
      const owner = printable(recognised.owner);
      return {
        kind: "orphan",
        verdict: "not_a_session",
        says: isOwned
          ? `what SQLite keeps beside ${owner}; inspect that`
          : `what SQLite kept beside ${owner}, which is not there: a WAL holds commits that no other file has, so it is kept until that is understood`,
        byteLength,
      };
    }
    case "other":
      return { kind: "other", verdict: "not_a_session", says: `no session: ${recognised.why}`, byteLength };
  }
}

async function withBytes(
  path: string,
  kind: FileFinding["kind"],
  find: (bytes: Buffer) => ReaderFinding | Promise<ReaderFinding>,
): Promise<ReaderFinding> {
  const bytes = bytesOfOneMoment(path);
  if (bytes !== undefined) return find(bytes);
  return { kind, verdict: "inconclusive", says: "it was changed each time that it was read; try again" };
}

function besideOf(path: string, kind: FileFinding["kind"]): BesideFinding[] {
  if (kind !== "jsonl_session" && kind !== "legacy_session" && kind !== "sqlite_session") return [];
  const leftovers = leftoversOf(path, hostFileSystem).map((leftover) => {
    const found = lookAt(leftover);
    return {
      path: leftover,
      byteLength: found.kind === "file" ? found.byteLength : 0,
      says: "an unfinished file of a writer that died, or is at work; never read as a session",
    };
  });
  return kind === "sqlite_session" ? [...sideFilesOf(path), ...leftovers] : leftovers;
}

/** Errors of the host and of its limits. */
function isOfSystem(error: unknown): boolean {
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return typeof errno === "number" || (typeof code === "string" && /^E(?:RR_)?[A-Z]/.test(code));
}

/** Whatever a file holds must not end the inspection of the others; but it is said to be what it is. */
function ownFailure(error: unknown): Pick<FileFinding, "kind" | "verdict" | "says"> {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    kind: "other",
    verdict: "inconclusive",
    says: `crashproof itself failed on it: ${printable(message)}`,
  };
}
