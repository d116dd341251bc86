/**
 * What can happen to a database of SQLite and to its write-ahead log, in which the last commit is some frames at the end.
 *
 * A transaction is committed once its last frame is whole, which is marked as the last; so where any byte of the last
 * commit is missing, the session is the one before it. Bytes behind the last frame are of no meaning. A page of the
 * database that a checkpoint tore is whole in the log, as long as the log is there.
 *
 * SQLite does not record that there was a log, nor whose. A database without its log is the session as of its last
 * checkpoint. One beside the log of another session is that other one: whoever opens a session by its id must refuse it.
 */

import type { DiskFile } from "../../subject/index.ts";
import { spread } from "../spread.ts";
import {
  type Damage,
  type DamageBudget,
  type DamageName,
  damageName,
  type Reading,
  replaced,
} from "./damage.ts";

/** What the formats of SQLite leave unnoticed. */
const NO_RECORD_OF_LOG =
  "SQLite does not record that there was a log: without it, the last checkpoint is the session";
const NO_SUM_OF_PAGES = "SQLite keeps no checksum of the pages of a database";

/** A kind of damage to one of the two files. */
interface DatabaseDamage {
  readonly of: "frames" | "pages";
  readonly allows: readonly Reading[];
  readonly unpromised?: string;
  /** Where it can be done; absent: it has no place. */
  places?(file: DiskFile, budget: DamageBudget): readonly number[];
  /** Undefined: the file is missing. */
  bytes(file: DiskFile, at: number): Uint8Array | undefined;
}

/** The kinds, in the order in which they are done. */
const DATABASE_DAMAGES: Readonly<Record<string, DatabaseDamage>> = {
  /** Of the last commit, only the first `at` bytes are in the log. */
  "log-cut": {
    of: "frames",
    allows: ["previous"],
    places: (file, { places }) => spread(framePlaces(file), places),
    bytes: ({ bytes, lastCommitFrom }, at) => bytes.subarray(0, lastCommitFrom + at),
  },
  /** From `at` on the last commit is zeros; places from which it is are not asked for. */
  "log-zeros": {
    of: "frames",
    allows: ["previous"],
    places: (file, { places }) => {
      const last = file.bytes.subarray(file.lastCommitFrom);
      const isOther = (at: number) => last.subarray(at).some((byte) => byte !== 0);
      return spread(framePlaces(file).filter(isOther), places);
    },
    bytes: ({ bytes, lastCommitFrom }, at) => {
      const zeroed = Buffer.from(bytes);
      return zeroed.fill(0, lastCommitFrom + at);
    },
  },
  "log-zeros-after": {
    of: "frames",
    allows: ["complete"],
    bytes: ({ bytes }) => Buffer.concat([bytes, Buffer.alloc(512)]),
  },
  "log-garbage-after": {
    of: "frames",
    allows: ["complete"],
    bytes: ({ bytes }) => Buffer.concat([bytes, Buffer.alloc(5000, 0xa5)]),
  },
  /** The frames of the last commit are there twice; the second ones do not go on with the sum of the first. */
  "log-doubled": {
    of: "frames",
    allows: ["complete"],
    bytes: ({ bytes, lastCommitFrom }) => Buffer.concat([bytes, bytes.subarray(lastCommitFrom)]),
  },
  "log-missing": {
    of: "frames",
    allows: ["refused", "previous", "complete"],
    unpromised: NO_RECORD_OF_LOG,
    bytes: () => undefined,
  },
  "log-empty": {
    of: "frames",
    allows: ["refused", "previous", "complete"],
    unpromised: NO_RECORD_OF_LOG,
    bytes: () => new Uint8Array(),
  },
  /** The second half of page `at` of the database is zeros; pages of which it is are not asked for. */
  "page-torn": {
    of: "pages",
    allows: ["refused", "complete"],
    unpromised: NO_SUM_OF_PAGES,
    places: ({ bytes, format }, { places }) => {
      const size = pageBytesOf(format);
      const pages = Array.from({ length: Math.floor(bytes.length / size) }, (_, page) => page).filter(
        (page) => bytes.subarray(page * size + size / 2, (page + 1) * size).some((byte) => byte !== 0),
      );
      return spread(pages, places);
    },
    bytes: ({ bytes, format }, page) => {
      const size = pageBytesOf(format);
      return Buffer.from(bytes).fill(0, page * size + size / 2, (page + 1) * size);
    },
  },
  /** The database ends in the middle of its last page. */
  "database-cut": {
    of: "pages",
    allows: ["refused", "complete"],
    unpromised: NO_SUM_OF_PAGES,
    bytes: ({ bytes, format }) => bytes.subarray(0, bytes.length - pageBytesOf(format) / 2),
  },
  "database-empty": { of: "pages", allows: ["refused", "complete"], bytes: () => new Uint8Array() },
  "database-missing": { of: "pages", allows: ["refused"], bytes: () => undefined },
};

/** The damages of a file of SQLite within a budget. */
export function damagesOfDatabase(
  files: readonly DiskFile[],
  file: DiskFile,
  budget: DamageBudget,
): Damage[] {
  return Object.entries(DATABASE_DAMAGES)
    .filter(([, damage]) => damage.of === file.format.kind)
    .flatMap(([kind, { places }]) => {
      const wanted: readonly (number | undefined)[] = places?.(file, budget) ?? [undefined];
      return wanted.map((at) => made(files, file, { kind, at, bit: undefined }));
    });
}

/** The log of another session in the place of this one's; undefined where there is no log. */
export function foreignLog(files: readonly DiskFile[], others: readonly DiskFile[]): Damage | undefined {
  const log = files.find(({ format }) => format.kind === "frames");
  const other = others.find(({ format }) => format.kind === "frames");
  if (log === undefined || other === undefined) return undefined;
  return {
    name: FOREIGN_LOG,
    kind: FOREIGN_LOG,
    allows: ["previous", "complete", "refused"],
    contents: () => replaced(files, log.name, other.bytes),
  };
}

const FOREIGN_LOG = "log-foreign";

/** The damage of a name; undefined if this file has none such. */
export function damageOfDatabase(
  files: readonly DiskFile[],
  file: DiskFile,
  name: DamageName,
): Damage | undefined {
  const { kind, at, bit } = name;
  const damage = Object.hasOwn(DATABASE_DAMAGES, kind) ? DATABASE_DAMAGES[kind] : undefined;
  if (damage === undefined || damage.of !== file.format.kind || bit !== undefined) return undefined;
  const hasPlace =
    at !== undefined && at < file.bytes.length - (damage.of === "frames" ? file.lastCommitFrom : 0);
  return (damage.places === undefined ? at === undefined : hasPlace) ? made(files, file, name) : undefined;
}

function made(files: readonly DiskFile[], file: DiskFile, name: DamageName): Damage {
  const { kind, at } = name;
  const damage = DATABASE_DAMAGES[kind];
  if (damage === undefined) throw new Error(`a database has no damage ${kind}`);
  return {
    name: damageName(name),
    kind,
    allows: damage.allows,
    ...(damage.unpromised === undefined ? {} : { unpromised: damage.unpromised }),
    contents: () => replaced(files, file.name, damage.bytes(file, at ?? 0)),
  };
}

/**
 * Places in the last commit, counted from its beginning: before, in and behind the header of each of its frames, in the
 * middle of its page, and before the last byte of it.
 */
function framePlaces({ bytes, lastCommitFrom, format }: DiskFile): readonly number[] {
  if (format.kind !== "frames") return [];
  const { frameBytes, frameHeaderBytes } = format;
  const { length } = bytes.subarray(lastCommitFrom);
  const places: number[] = [];
  for (let frame = 0; frame < length; frame += frameBytes) {
    const ofHeader = [0, 1, 8, 16, frameHeaderBytes];
    for (const within of [...ofHeader, frameHeaderBytes + 1, frameBytes >> 1, frameBytes - 1]) {
      if (frame + within > 0) places.push(frame + within);
    }
  }
  return places;
}

function pageBytesOf(format: DiskFile["format"]): number {
  return format.kind === "pages" ? format.pageBytes : 1;
}
