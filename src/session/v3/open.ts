/**
 * Opening a legacy session file as a store (spec Appendix B).
 *
 * Until the first commit the file is left alone, byte for byte: only its bytes are read, and closing leaves nothing
 * behind. The first commit writes the session in format 4 beside it, with the same totals in one ledger row, and
 * renames that over it; from then on the store is one of format 4 like any other. Before the rename the old file
 * stands whole, after it the new one; and a file that was changed since it was read is never replaced.
 */
import { isAbsolute } from "node:path";
import type { Clock, IdGenerator } from "../../foundation/index.ts";
import type { CustomMessageSchemas, Write } from "../../model/index.ts";
import { type FileSystem, hostFileSystem, JsonlStorage } from "../../storage/index.ts";
import { lineReader } from "./lines.ts";
import { type ReadV3Options, readV3, type V3Session } from "./read.ts";
import { headerIdOf } from "./recognise.ts";

/** How a legacy file is opened. */
export interface OpenLegacyOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Mints the id of the ledger row at the conversion. */
  readonly idGenerator: IdGenerator;
  /** Default: the host's. */
  readonly fileSystem?: FileSystem;
  readonly customMessageSchemas?: CustomMessageSchemas | undefined;
  /** See `ReadV3Options`. Default: the header of the file at that path, if it is absolute and can be read. */
  readonly parentIdOf?: ReadV3Options["parentIdOf"];
}

/** A legacy session, opened. */
export interface OpenedLegacy {
  /** Reads the normalised session, and converts the file at its first commit. */
  readonly storage: JsonlStorage;
  readonly session: V3Session;
}

/** What the ledger row of a conversion says of itself. */
const V3_IMPORT_DETAILS = { source: "v3-import" } as const;

/** Opens a legacy file. @throws as `readV3`; the host's error if there is no such file */
export function openLegacyJsonl(options: OpenLegacyOptions): OpenedLegacy {
  const { path, clock, idGenerator, fileSystem = hostFileSystem, customMessageSchemas } = options;
  const parentIdOf =
    options.parentIdOf ?? ((parent) => (isAbsolute(parent) ? readHeaderId(parent, fileSystem) : undefined));
  const reading = { parentIdOf, customMessageSchemas };
  let session: V3Session | undefined;
  const storage = JsonlStorage.openConverting({ path, clock, fileSystem }, (bytes) => {
    const read = readV3(bytes, path, reading);
    session = read;
    const { metadata, stats, ...contents } = read.dump;
    return { metadata, contents, stats, prelude: () => [ledgerRow(read, idGenerator)] };
  });
  if (session === undefined) throw new Error("a legacy store was opened without reading its file");
  return { storage, session };
}

/** The session id in the header of a file, or undefined if there is none that can be read. */
export function readHeaderId(path: string, fileSystem: FileSystem = hostFileSystem): string | undefined {
  try {
    const file = fileSystem.open(path, "read");
    try {
      const bytes = Buffer.alloc(HEADER_BYTES_MAX);
      const length = fileSystem.read(file, bytes, 0, bytes.length, 0);
      const first = lineReader(bytes.subarray(0, length)).next();
      return first === undefined ? undefined : headerIdOf(first.record);
    } finally {
      fileSystem.close(file);
    }
  } catch {
    // A parent that is gone or locked away is kept as the path that the header names.
    return undefined;
  }
}

/** A header is a short line; a file without one so far is no session. */
const HEADER_BYTES_MAX = 1 << 16;

/** The sum of what the entries show, so that totals from the ledger are those from before (spec Appendix B). */
function ledgerRow({ dump }: V3Session, idGenerator: IdGenerator): Write {
  const { usage } = dump.stats;
  return {
    kind: "usage",
    row: { id: idGenerator.next(), usage, adjustment: true, details: { ...V3_IMPORT_DETAILS } },
  };
}
