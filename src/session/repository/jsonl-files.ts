/**
 * Session files of both JSON-lines formats behind one set of calls: format 4, and the legacy format, which is read as if
 * it were format 4 and keeps its bytes until the first commit (spec Appendix B).
 */
import {
  dumpJsonl,
  type FileSystem,
  JsonlStorage,
  type JsonlStorageOptions,
  readFile,
  readJsonlMetadata,
  type SessionDump,
  type SessionMetadata,
} from "../../storage/index.ts";
import { openMigrated } from "../migration/migration.ts";
import { lineReader } from "../v3/lines.ts";
import { openLegacyJsonl, readHeaderId } from "../v3/open.ts";
import { type ReadV3Options, readV3 } from "../v3/read.ts";
import { formatOf } from "../v3/recognise.ts";
import type { RepositoryOptions } from "./contract.ts";

/** How a session file is opened. */
export interface OpenFileOptions extends RepositoryOptions, Omit<JsonlStorageOptions, "storageVersion"> {
  readonly fileSystem: FileSystem;
}

/** Opens a session file in the current storage version. @throws as the stores, the migrations and `readV3` do */
export async function openSessionFile(options: OpenFileOptions): Promise<JsonlStorage> {
  const { path, fileSystem, customMessageSchemas } = options;
  if (legacyHeaderOf(path, fileSystem) !== undefined) return openLegacyJsonl(options).storage;
  return openMigrated(JsonlStorage.open(options), { customMessageSchemas });
}

/**
 * Brings an open file to format 4 if it is not in it yet. Converting takes a commit; this one deletes a fact that is
 * not there, which changes nothing.
 */
export async function convertSessionFile(storage: JsonlStorage): Promise<void> {
  if (!storage.isUnconverted) return;
  const names = (await storage.listRegisters("fact.custom")).map(({ key }) => key);
  // The key is longer than every one that exists.
  const key = `${names.join("")}-`;
  await storage.commit({ writes: [{ kind: "register", op: "delete", namespace: "fact.custom", key }] });
}

/** Everything that a session file says, without opening it for writing. @throws as the readers of both formats */
export function dumpSessionFile(path: string, options: Omit<OpenFileOptions, "path">): SessionDump {
  const { fileSystem } = options;
  if (legacyHeaderOf(path, fileSystem) === undefined) return dumpJsonl(path, fileSystem);
  return readV3(readFile(path, fileSystem), path, readingOptions(options)).dump;
}

/** What a session file says of its session, from its header alone where that is enough. */
export function metadataOfFile(path: string, options: Omit<OpenFileOptions, "path">): SessionMetadata {
  const { fileSystem } = options;
  const header = legacyHeaderOf(path, fileSystem);
  if (header === undefined) return readJsonlMetadata(path, fileSystem);
  const alone = readV3(Buffer.from(`${JSON.stringify(header)}\n`), path, readingOptions(options)).dump
    .metadata;
  // A header without a time leaves it to the first entry that has one.
  return alone.createdAt > 0 ? alone : dumpSessionFile(path, options).metadata;
}

/** The header of a legacy session, of any version; undefined for a file that is none. */
function legacyHeaderOf(path: string, fileSystem: FileSystem): Record<string, unknown> | undefined {
  const first = lineReader(beginningOf(path, fileSystem)).next();
  if (first === undefined) return undefined;
  const { kind } = formatOf(first.record);
  return kind === "legacy" || kind === "unknown_version" ? first.record : undefined;
}

function beginningOf(path: string, fileSystem: FileSystem): Buffer {
  const file = fileSystem.open(path, "read");
  try {
    const bytes = Buffer.alloc(HEADER_BYTES_MAX);
    return bytes.subarray(0, fileSystem.read(file, bytes, 0, bytes.length, 0));
  } finally {
    fileSystem.close(file);
  }
}

function readingOptions({ fileSystem, customMessageSchemas }: Omit<OpenFileOptions, "path">): ReadV3Options {
  const parentIdOf = (path: string) => readHeaderId(path, fileSystem);
  return { parentIdOf, customMessageSchemas };
}

/** A legacy header is a short line. */
const HEADER_BYTES_MAX = 1 << 16;
