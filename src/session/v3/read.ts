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
 * (what each node becomes), `messages.ts` (repairs).
 */
import { Corruption, type Random } from "../../foundation/index.ts";
import {
  addUsage,
  type CustomMessageSchemas,
  type Entry,
  type Register,
  type RegisterNamespace,
  type Usage,
  zeroUsage,
} from "../../model/index.ts";
import {
  byNamespaceThenSeq,
  CURRENT_STORAGE_VERSION,
  type SessionDump,
  type SessionMetadata,
} from "../../storage/index.ts";
import { MAIN_LANE } from "../lane.ts";
import { entriesOf, usageOf } from "./entries.ts";
import { type LegacyLine, lineReader, placeOf, type V3Warning } from "./lines.ts";
import { type LegacyNode, type LegacyTree, legacyTree, refuse } from "./nodes.ts";
import { formatOf, type LegacyVersion } from "./recognise.ts";
import { parseTime } from "./times.ts";
import { admitMended, type JsonRecord } from "./values.ts";

/** How a legacy file is read. */
export interface ReadV3Options {
  /** Schemas of an application's own message roles (spec §2.8). */
  readonly customMessageSchemas?: CustomMessageSchemas;
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

/** The lane `main`, at rest and without a configuration, and the facts; labels in the order in which they were set. */
function registersOf(
  tree: LegacyTree,
  idOf: ReadonlyMap<string, string>,
  entryCount: number,
  file: string | undefined,
  warnings: V3Warning[],
): Register[] {
  const registers: Register[] = [];
  const set = (namespace: RegisterNamespace, key: string, value: unknown) => {
    const seq = entryCount + registers.length + 1;
    const admitted = admitMended({ namespace, key, value, seq }).value;
    registers.push(admitted as Register);
  };
  const leaf = leafOf(tree, file);
  set("lane.leaf", MAIN_LANE, leaf === null ? null : (idOf.get(leaf.id) ?? null));
  set("lane.state", MAIN_LANE, { currentOperationId: null, pendingNextRun: [] });
  const name = nameOf(tree, file);
  if (name !== "") set("fact.name", "", name);
  for (const [id, label] of labelsOf(tree, idOf, file, warnings)) set("fact.label", id, label);
  return registers.sort(byNamespaceThenSeq);
}

/** The nearest kept ancestor of the last node; a node of the type `leaf` speaks for the one that it names. */
function leafOf({ nodes, byId }: LegacyTree, file: string | undefined): LegacyNode | null {
  const last = nodes.at(-1);
  if (last === undefined) return null;
  if (last.type !== "leaf") return last.kept;
  const { targetId } = last.record;
  if (targetId === null) return null;
  if (typeof targetId !== "string") {
    refuse("malformed_entry", "the targetId of a leaf is a string or null", last, file, last.id);
  }
  return byId.get(targetId)?.kept ?? null;
}

function nameOf({ nodes }: LegacyTree, file: string | undefined): string {
  let name = "";
  for (const node of nodes) {
    if (node.type === "session_info") name = optionalText(node, "name", file).trim();
  }
  return name;
}

/** By new entry id, in the order in which the last label of each was set. */
function labelsOf(
  { nodes, byId }: LegacyTree,
  idOf: ReadonlyMap<string, string>,
  file: string | undefined,
  warnings: V3Warning[],
): Map<string, string> {
  const labels = new Map<string, string>();
  for (const node of nodes) {
    if (node.type !== "label") continue;
    const { targetId } = node.record;
    if (typeof targetId !== "string") {
      refuse("malformed_entry", "the targetId of a label is a string", node, file, node.id);
    }
    const label = optionalText(node, "label", file);
    const kept = byId.get(targetId)?.kept ?? null;
    const id = kept === null ? undefined : idOf.get(kept.id);
    if (id === undefined) {
      const { line, byteOffset } = node;
      const message = `the label of ${targetId} has no entry left to carry it`;
      warnings.push({ reason: "label_dropped", message, line, byteOffset });
      continue;
    }
    labels.delete(id);
    if (label !== "") labels.set(id, label);
  }
  return labels;
}

function optionalText(node: LegacyNode, name: string, file: string | undefined): string {
  const value = node.record[name] ?? "";
  if (typeof value === "string") return value;
  return refuse(
    "malformed_entry",
    `the ${name} of a ${node.type} is a string or absent`,
    node,
    file,
    node.id,
  );
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

/** The id in a header line, of the legacy format or of format 4; undefined if it is none. */
export function headerIdOf(record: JsonRecord): string | undefined {
  const format = formatOf(record);
  switch (format.kind) {
    case "legacy":
    case "unknown_version":
      return format.id;
    case "format4":
      return typeof format.id === "string" && format.id !== "" ? format.id : undefined;
    default:
      return undefined;
  }
}
