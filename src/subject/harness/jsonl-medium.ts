/**
 * JSONL: the disk is a file; a fork is a copy of it. A commit is one write, and one write is not atomic under a kill.
 * `../tears.ts` says where.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  type FileCall,
  type FileSystem,
  FilesThrough,
  hostFileSystem,
  JsonlStorage,
  readJsonlSession,
} from "../../storage/index.ts";
import type { Disk, DiskFile, TornDisk } from "../contract.ts";
import { tearsOf } from "../tears.ts";
import { FILE_FAULTS, faultyFiles } from "./faulty-files.ts";
import type { Medium } from "./medium.ts";

const SESSION_FILE = "session.jsonl";

/** The name of the one file of a disk. */
const SESSION = "session";

/** A session file as a subject's disk. */
export class JsonlSubjectDisk implements Disk {
  readonly path: string;
  /** Where the newest commit begins, as `size` last said it. */
  #lastCommitFrom = 0;

  constructor(path: string) {
    this.path = path;
  }

  fork(folder: string): JsonlSubjectDisk {
    const path = nextPath(folder);
    copyFileSync(this.path, path);
    return new JsonlSubjectDisk(path);
  }

  /** The end of the last whole line: the first commit after a death cuts off what stands behind it. */
  size(): number {
    this.#lastCommitFrom = this.#endOfWholeLines();
    return this.#lastCommitFrom;
  }

  #endOfWholeLines(): number {
    const file = openSync(this.path, "r");
    try {
      return endOfLastLine(file, fstatSync(file).size);
    } finally {
      closeSync(file);
    }
  }

  tear(sizeBefore: number, folder: string): readonly TornDisk[] {
    const make = (offset: number) => {
      const disk = this.fork(folder);
      truncateSync(disk.path, offset);
      return disk;
    };
    return tearsOf(sizeBefore, this.#endOfWholeLines()).map((offset) => ({
      bytesWritten: offset - sizeBefore,
      make: () => make(offset),
    }));
  }

  imprint(): readonly unknown[] {
    return [readFileSync(this.path, "latin1")];
  }

  files(): readonly DiskFile[] {
    const bytes = readFileSync(this.path);
    // The format has no checksum: a change that leaves a valid transaction is one.
    return [
      {
        name: SESSION,
        format: { kind: "lines" },
        bytes,
        lastCommitFrom: this.#lastCommitFrom,
        noticesChanges: false,
      },
    ];
  }

  withFiles(contents: ReadonlyMap<string, Uint8Array>, folder: string): JsonlSubjectDisk {
    const path = nextPath(folder);
    const bytes = contents.get(SESSION);
    if (bytes !== undefined) writeFileSync(path, bytes);
    return new JsonlSubjectDisk(path);
  }

  dispose(): void {
    rmSync(this.path, { force: true });
  }
}

export const jsonlMedium = jsonlMediumOver((files) => files);

/** The medium with its file calls changed, above what makes them fail; the right one changes none. */
export function jsonlMediumOver(change: (files: FileSystem) => FileSystem): Medium<JsonlSubjectDisk> {
  return {
    id: "jsonl",
    title: "the harness on a JSON-lines file, one write a commit",
    grade: "process-crash",
    faults: FILE_FAULTS,
    provision: async (metadata, folder) => {
      const first = join(folder, SESSION_FILE);
      const path = existsSync(first) ? nextPath(folder) : first;
      const storage = JsonlStorage.create({ path, clock: STILL_CLOCK, metadata });
      storage.abandon();
      return new JsonlSubjectDisk(path);
    },
    attach: (folder) => new JsonlSubjectDisk(join(folder, SESSION_FILE)),
    open: async ({ path }, { clock, fault }) => {
      const stoppable = new StoppableFiles();
      const storage = JsonlStorage.open({
        path,
        clock,
        fileSystem: change(fault === undefined ? stoppable : faultyFiles(stoppable, fault)),
        ...(fault?.life === "upkeep" ? { compactAtOpen: ALWAYS_DUE } : {}),
      });
      return {
        storage,
        abandon: () => storage.abandon(),
        stopNextWriteAfter: (bytesWritten, reached) => stoppable.stopAfter(bytesWritten, reached),
      };
    },
    dump: ({ path }) => readJsonlSession(path).dump,
  };
}

/** The upkeep of a session file is its compaction. */
const ALWAYS_DUE = { deadRatioMin: 0, fileBytesMin: 0 };

/** The host's file system, which can be told to stop in the middle of its next write, for good. */
class StoppableFiles extends FilesThrough {
  #stop: { bytesWritten: number; reached: () => void } | undefined;
  #isStopped = false;

  constructor() {
    super(hostFileSystem);
  }

  stopAfter(bytesWritten: number, reached: () => void): void {
    this.#stop = { bytesWritten, reached };
  }

  protected pass<T>({ name, mode, make, write }: FileCall<T>): T {
    const changesNothing = LOOKS.has(name) && mode !== "createNew";
    if (this.#isStopped && !changesNothing) throw new Error("the medium takes nothing more");
    if (this.#stop === undefined || write === undefined) return make();
    this.#isStopped = true;
    write.make(Math.min(this.#stop.bytesWritten, write.length));
    this.#stop.reached();
    throw new Error("the medium stopped in the middle of this write");
  }
}

/** Calls that leave the medium as it is. */
const LOOKS: ReadonlySet<keyof FileSystem> = new Set(["open", "read", "fstat", "close", "list", "realPath"]);

function endOfLastLine(file: number, size: number): number {
  // A file that nobody died over ends with a line feed: then one byte is enough.
  for (let end = size, length = 1; end > 0; end -= length, length = Math.min(end, CHUNK_BYTES)) {
    const chunk = Buffer.alloc(length);
    readSync(file, chunk, 0, length, end - length);
    const lineFeed = chunk.lastIndexOf(0x0a);
    if (lineFeed >= 0) return end - length + lineFeed + 1;
  }
  return 0;
}

const CHUNK_BYTES = 65_536;

/** Creating a session takes its times from the metadata, so no clock is read. */
const STILL_CLOCK = { now: () => 0, sleep: () => Promise.resolve() };

let pathCount = 0;

/** A path that nobody in this process has used; scratch folders belong to one process. */
function nextPath(folder: string): string {
  return join(folder, `${pathCount++}.jsonl`);
}
