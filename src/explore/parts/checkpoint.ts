/**
 * The checkpoint of an exploration: the records of its finished units, in a file, so that an explorer that is killed and
 * begun again with the same command loses none of them.
 *
 * The file is lines of JSON, each ended by a line feed: first a head with the fingerprint of the plan and the program,
 * then one record a line, appended as units finish. Bytes behind the last line feed are a record that was being written
 * when the explorer died: they are cut off, and its unit is explored again.
 *
 * Invariants.
 * 1. A file that is no checkpoint of this plan is never written to: not one byte of it changes.
 * 2. Of a unit whose record is in the file, exploring it again would give the same record (`units/unit.ts`), but for times.
 * 3. Two explorers never write one file: the second is refused while the first lives, however it ends.
 * 4. A record that cannot be written (a full disk) ends the keeping, is told once, and changes nothing of the result.
 */
import {
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isRecord } from "../../foundation/index.ts";
import { takeExclusively } from "../../subprocess/index.ts";
import type { UnitRecord } from "../units/unit.ts";

const CHECKPOINT_SCHEMA = "crashproof-checkpoint/1";

export type CheckpointRefusalCode =
  | "UNREADABLE_CHECKPOINT"
  | "FOREIGN_CHECKPOINT"
  | "CHECKPOINT_IN_USE"
  | "UNWRITABLE_CHECKPOINT";

/** Why a file cannot be the checkpoint of an exploration. */
export class CheckpointRefused extends Error {
  override readonly name = "CheckpointRefused";
  readonly code: CheckpointRefusalCode;

  constructor(code: CheckpointRefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a checkpoint is of. */
export interface CheckpointHead {
  readonly fingerprint: string;
  readonly version: string;
  /** For a reader. */
  readonly command: string;
}

/** See the module header. */
export class Checkpoint {
  readonly #path: string;
  readonly #file: number;
  readonly #release: () => void;
  readonly #records = new Map<string, UnitRecord>();
  readonly #lost: (error: unknown) => void;
  /** Up to where whole lines reach, in bytes; undefined: nothing more is kept. */
  #wholeBytes: number | undefined = 0;

  /**
   * Opens a checkpoint, or begins one where there is no file or an empty one.
   *
   * @param lost told once, if a record cannot be written.
   * @throws CheckpointRefused
   */
  static open(path: string, head: CheckpointHead, lost: (error: unknown) => void): Checkpoint {
    // Asked before anything is made beside it; and again when nobody else writes it.
    if (existsSync(path)) {
      if (!statSync(path).isFile())
        throw new CheckpointRefused("UNWRITABLE_CHECKPOINT", `${path} is no regular file; name one`);
      contentOf(path, readFileSync(path), head);
    }
    const own = realPathOf(path);
    const release = takeExclusively(`${own}.lock`);
    if (release === undefined) {
      const message = `another exploration is writing the checkpoint ${path}; wait for it, or name another file`;
      throw new CheckpointRefused("CHECKPOINT_IN_USE", message);
    }
    try {
      return new Checkpoint(path, head, lost, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  private constructor(
    path: string,
    head: CheckpointHead,
    lost: (error: unknown) => void,
    release: () => void,
  ) {
    this.#path = path;
    this.#release = release;
    this.#lost = lost;
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o644);
    try {
      this.#read(head);
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  /** Of the units that were finished when it was opened, by name. */
  get records(): ReadonlyMap<string, UnitRecord> {
    return this.#records;
  }

  /** Keeps the record of a unit that is finished. */
  keep(record: UnitRecord): void {
    if (this.#wholeBytes === undefined) return;
    try {
      this.#append({ record });
    } catch (error) {
      this.#wholeBytes = undefined;
      this.#lost(error);
    }
  }

  close(): void {
    closeSync(this.#file);
    this.#release();
  }

  #read(head: CheckpointHead): void {
    const { records, wholeBytes } = contentOf(this.#path, readFileSync(this.#file), head);
    for (const record of records) this.#records.set(record.id, record);
    ftruncateSync(this.#file, wholeBytes);
    this.#wholeBytes = wholeBytes;
    if (wholeBytes === 0) this.#append(headOf(head));
  }

  #append(value: object): void {
    const bytes = Buffer.from(lineOf(value));
    let at = this.#wholeBytes ?? 0;
    for (let written = 0; written < bytes.length; ) {
      const count = writeSync(this.#file, bytes, written, bytes.length - written, at);
      written += count;
      at += count;
    }
    this.#wholeBytes = at;
  }
}

/** The records in a checkpoint of this head, and up to where its whole lines reach. */
function contentOf(
  path: string,
  bytes: Buffer,
  head: CheckpointHead,
): { readonly records: readonly UnitRecord[]; readonly wholeBytes: number } {
  const end = bytes.lastIndexOf("\n") + 1;
  if (end === 0) {
    // A head that was being written is the beginning of ours; anything else without a line is somebody's file.
    const own = Buffer.from(lineOf(headOf(head)));
    if (own.subarray(0, bytes.length).equals(bytes)) return { records: [], wholeBytes: 0 };
    throw refusal("UNREADABLE_CHECKPOINT", path, "is no checkpoint");
  }
  const [headLine = "", ...lines] = bytes.toString("utf8", 0, end - 1).split("\n");
  assertHead(path, parsed(headLine), head);
  const records = lines.map((line, place) => {
    const record = recordIn(line);
    if (record !== undefined) return record;
    throw refusal("UNREADABLE_CHECKPOINT", path, `is damaged: line ${place + 2} is no record of a unit`);
  });
  return { records, wholeBytes: end };
}

function assertHead(path: string, found: unknown, head: CheckpointHead): void {
  if (!isRecord(found) || found.schema !== CHECKPOINT_SCHEMA) {
    throw refusal("UNREADABLE_CHECKPOINT", path, "is no checkpoint");
  }
  if (found.version !== head.version) {
    const versions = `version ${found.version}, and this is ${head.version}`;
    throw refusal("FOREIGN_CHECKPOINT", path, `was written by ${versions}`);
  }
  if (found.fingerprint !== head.fingerprint) {
    throw refusal("FOREIGN_CHECKPOINT", path, `is of "${found.command}", with another plan, seed or program`);
  }
}

function refusal(code: CheckpointRefusalCode, path: string, what: string): CheckpointRefused {
  return new CheckpointRefused(code, `${path} ${what}; name another file to begin anew`);
}

function headOf(head: CheckpointHead): object {
  return { schema: CHECKPOINT_SCHEMA, ...head };
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** One name for a file, so that links to it are one checkpoint. */
function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}

function recordIn(line: string): UnitRecord | undefined {
  const value = parsed(line);
  if (!isRecord(value) || !isRecord(value.record)) return undefined;
  const { id, groups } = value.record;
  if (typeof id !== "string" || !Array.isArray(groups)) return undefined;
  return value.record as unknown as UnitRecord;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
