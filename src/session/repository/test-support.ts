/** What the tests of this folder share: repositories of files in folders that are removed again. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import type { FileSystem } from "../../storage/index.ts";
import type { FileSessionMetadata, SessionRepository } from "./contract.ts";
import { jsonlRepository } from "./jsonl.ts";
import { sqliteRepository } from "./sqlite.ts";

export type FileRepository = SessionRepository<FileSessionMetadata>;

/** A kind of repository over files. */
export interface RepositoryKind {
  readonly name: string;
  readonly extension: string;
  open(folder: string, life?: Life): FileRepository;
}

/** One process over a folder. */
export interface Life {
  readonly fileSystem?: FileSystem;
  /** Default 0. Tells ids and owners of processes apart. */
  readonly incarnation?: number;
  readonly clock?: VirtualClock;
}

export const REPOSITORY_KINDS: readonly RepositoryKind[] = [
  {
    name: "jsonl",
    extension: ".jsonl",
    open: (folder, life = {}) => jsonlRepository({ folder, ...optionsOf(life) }),
  },
  {
    name: "sqlite",
    extension: ".db",
    open: (folder, life = {}) =>
      sqliteRepository({
        folder,
        ...optionsOf(life),
        ownerId: `life ${life.incarnation ?? 0}`,
        leaseWaitMsMax: 0,
        busyTimeoutMs: 20,
      }),
  },
];

function optionsOf({ fileSystem, incarnation = 0, clock = new VirtualClock() }: Life) {
  const idGenerator = idsOfIncarnation(3, incarnation, clock);
  return { clock, idGenerator, ...(fileSystem === undefined ? {} : { fileSystem }) };
}

/** On a memory file system where there is one: nothing here loses power. */
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Runs a test over a folder of its own, in which a folder for a repository is not made yet. */
export async function withFolder(test: (folder: string, scratch: string) => Promise<void>): Promise<void> {
  const scratch = mkdtempSync(join(place, "repository-"));
  try {
    await test(join(scratch, "sessions"), scratch);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
