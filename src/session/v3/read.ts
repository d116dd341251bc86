/**
 * Reading a legacy session as one of format 4 (spec Appendix B): the bytes in, a normalised session out, and nothing
 * written. `open.ts` makes a store of it.
 *
 * Invariants.
 * 1. Equal bytes give an equal session, ids included, at every reading.
 * 2. What the old reader passed over is passed over, with a warning; what it left undefined is refused, with the
 *    place. Nothing is guessed.
 * 3. seq counts the entries in the order of the file, then the registers. The ledger is empty: until the session is
 *    converted, its totals are those that its entries show.
 *
 * Where to look next: `lines.ts` (what is passed over), `nodes.ts` (versions 1 and 2, and the tree), `entries.ts`
 * (what each node becomes), `messages.ts` (repairs), `facts.ts` (registers).
 */
import { Corruption, type Random } from "../../foundation/index.ts";
import { addUsage, type CustomMessageSchemas, type Entry, type Usage, zeroUsage } from "../../model/index.ts";
import { CURRENT_STORAGE_VERSION, type SessionDump, type SessionMetadata } from "../../storage/index.ts";
import { entriesOf, usageOf } from "./entries.ts";
import { registersOf } from "./facts.ts";
import { type LegacyLine, lineReader, placeOf, type V3Warning } from "./lines.ts";
import { type LegacyTree, legacyTree, refuse } from "./nodes.ts";
import { formatOf, type LegacyVersion } from "./recognise.ts";
import { parseTime } from "./times.ts";
import { admitMended } from "./values.ts";

/** How a legacy file is read. */
export interface ReadV3Options {
  /** Schemas of an application's own message roles (spec §2.8). */
  readonly customMessageSchemas?: CustomMessageSchemas | undefined;
  /** The session id in the file under a path that the header names as its parent, if there is such a file. */
  readonly parentIdOf?: (path: string) => string | undefined;
  /** The random source of an entry's id. Default: seeded by session and legacy id (see `entries.ts`). */
  readonly randomFor?: (sessionId: string, legacyId: string) => Random;
}

/** A legacy session in the terms of format 4. */
export interface V3Session {
  /** What the file says of itself; 1 and 2 were brought to 3 in memory. */
  readonly version: LegacyVersion;
  /** What a read-only opening shows. */
  readonly dump: SessionDump;
  /** The new id of each kept entry, by its legacy id. */
  readonly idOf: ReadonlyMap<string, string>;
  readonly warnings: readonly V3Warning[];
}

/** A legacy session of a version that this program does not know. Nothing was changed. */
export class LegacyVersionUnknown extends Error {
  override readonly name = "LegacyVersionUnknown";
  readonly code = "LEGACY_VERSION_UNKNOWN";
  readonly found: unknown;
  readonly file: string | undefined;

  constructor(found: unknown, file: string | undefined) {
    super(
      `${file === undefined ? "" : `${file}: `}the session says version ${JSON.stringify(found)} of the legacy format, ` +
        "and versions 1 to 3 are read; open it with the program that wrote it; nothing was changed",
    );
    this.found = found;
    this.file = file;
  }
}

/**
 * Reads the bytes of a legacy session file. `file` names it in errors.
 * @throws Corruption with the reasons of `V3CorruptionReason`; LegacyVersionUnknown
 */
export function readV3(bytes: Uint8Array, file?: string, options: ReadV3Options = {}): V3Session {
  const reader = lineReader(bytes);
  const { warnings } = reader;
  const headerLine = reader.next();
  if (headerLine === undefined) throw noHeader(bytes, file);
  const format = formatOf(headerLine.record);
  if (format.kind === "unknown_version") throw new LegacyVersionUnknown(format.version, file);
  if (format.kind !== "legacy") {
    const why = format.kind === "other" ? format.why : "it is a session of another format";
    return refuse("no_header", `the file is no legacy session: ${why}`, headerLine, file);
  }
  const { version, id: sessionId } = format;
  const tree = legacyTree(linesOf(reader, version), version, file, warnings);
  const header = headerOf(headerLine, file);
  if (headerLine.record.metadata !== undefined) {
    const { line, byteOffset } = headerLine;
    const message = "the metadata in the header has no place in format 4 and is not carried over";
    warnings.push({ reason: "header_metadata_dropped", message, line, byteOffset });
  }
  const createdAt = header.time ?? firstTime(tree) ?? 0;
  const { entries, idOf } = entriesOf(tree, {
    sessionId,
    file,
    headerTime: createdAt,
    warnings,
    customMessageSchemas: options.customMessageSchemas,
    randomFor: options.randomFor,
  });
  const metadata: SessionMetadata = {
    id: sessionId,
    createdAt,
    storageVersion: CURRENT_STORAGE_VERSION,
    ...(header.cwd === undefined ? {} : { cwd: header.cwd }),
    ...parentOf(header.parentPath, options),
  };
  const registers = registersOf(tree, idOf, entries.length, file, warnings);
  warnings.sort((left, right) => left.byteOffset - right.byteOffset);
  return {
    version,
    dump: {
      metadata: admitMended(metadata).value,
      entries,
      registers,
      usage: [],
      stats: admitMended(statsOf(entries)).value,
    },
    idOf,
    warnings,
  };
}

function noHeader(bytes: Uint8Array, file: string | undefined): Corruption {
  const place = { line: 1, byteOffset: 0, ...(file === undefined ? {} : { file }) };
  if (bytes.length === 0) {
    return new Corruption(
      "empty_file",
      "the file has no bytes and is no session; nothing was changed",
      place,
    );
  }
  const message = "no line of the file is a JSON object, so it is no legacy session; nothing was changed";
  return new Corruption("no_header", message, place);
}

/** The lines behind the header. Another header is no entry; in version 1 its line counts, so it stays to be dropped. */
function linesOf(reader: ReturnType<typeof lineReader>, version: LegacyVersion): LegacyLine[] {
  const lines: LegacyLine[] = [];
  for (let line = reader.next(); line !== undefined; line = reader.next()) {
    if (line.record.type === "session") {
      const { line: number, byteOffset } = line;
      const message = "a second header was skipped";
      reader.warnings.push({ reason: "extra_header", message, line: number, byteOffset });
      if (version !== 1) continue;
    }
    lines.push(line);
  }
  return lines;
}

interface LegacyHeader {
  readonly time: number | undefined;
  readonly cwd: string | undefined;
  readonly parentPath: string | undefined;
}

function headerOf(source: LegacyLine, file: string | undefined): LegacyHeader {
  const { record } = source;
  const text = (name: string): string | undefined => {
    const value = record[name] ?? undefined;
    if (value === undefined || typeof value === "string") return value;
    throw new Corruption(
      "bad_header",
      `in the header, ${name} is a string or absent; nothing was changed`,
      placeOf(source, file),
    );
  };
  // Version 1 called the parent `branchedFrom`.
  return {
    time: parseTime(record.timestamp),
    cwd: text("cwd"),
    parentPath: text("parentSession") ?? text("branchedFrom"),
  };
}

function firstTime({ nodes }: LegacyTree): number | undefined {
  for (const { record } of nodes) {
    const time = parseTime(record.timestamp);
    if (time !== undefined) return time;
  }
  return undefined;
}

function parentOf(
  path: string | undefined,
  { parentIdOf }: ReadV3Options,
): Pick<SessionMetadata, "parentSessionId" | "legacyParentSessionPath"> {
  if (path === undefined || path === "") return {};
  const parentSessionId = parentIdOf?.(path);
  return parentSessionId === undefined ? { legacyParentSessionPath: path } : { parentSessionId };
}

/** Totals as the entries show them. */
function statsOf(entries: readonly Entry[]): { messageCount: number; usage: Usage } {
  let messageCount = 0;
  let usage = zeroUsage();
  for (const entry of entries) {
    if (entry.type === "message") messageCount += 1;
    usage = addUsage(usage, usageOf(entry) ?? zeroUsage());
  }
  return { messageCount, usage };
}
