/** The repositories of this project under the suite: disks in memory, and folders of files that are removed again. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "../../src/foundation/index.ts";
import {
  jsonlRepository,
  memoryRepository,
  type SessionRepository,
  sqliteRepository,
} from "../../src/session/index.ts";
import {
  createJsonlFile,
  createSqliteFile,
  type MemoryDisk,
  type SessionContents,
  type SessionMetadata,
} from "../../src/storage/index.ts";
import type { RepositoryFactory, RepositoryFactoryOptions } from "../repository/index.ts";

export const memoryRepositories: RepositoryFactory = {
  name: "memory",
  hasVersions: false,
  async create(options) {
    const disks = new Map<string, MemoryDisk>();
    const repository = memoryRepository({ ...options, disks });
    return {
      repository,
      another: async () => memoryRepository({ ...options, disks }),
      dispose: async () => undefined,
    };
  },
};

/** On a memory file system where there is one: nothing here loses power. */
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

function inFolders(
  name: string,
  open: (folder: string, options: RepositoryFactoryOptions, life: number) => SessionRepository,
  plant: (folder: string, ...session: [SessionMetadata, SessionContents]) => void,
): RepositoryFactory {
  return {
    name,
    hasVersions: true,
    async create(options) {
      const scratch = mkdtempSync(join(place, "crashproof-conformance-"));
      const folder = join(scratch, "deep", "sessions");
      let lives = 0;
      return {
        repository: open(folder, options, ++lives),
        another: async () => open(folder, options, ++lives),
        plant: async (metadata, contents) => {
          mkdirSync(folder, { recursive: true });
          plant(folder, metadata, contents);
        },
        dispose: async () => rmSync(scratch, { recursive: true }),
      };
    },
  };
}

export const jsonlRepositories = inFolders(
  "jsonl",
  (folder, options) => jsonlRepository({ ...options, folder }),
  (folder, metadata, contents) =>
    createJsonlFile(join(folder, `${metadata.id}.jsonl`), metadata, undefined, contents),
);

export const sqliteRepositories = inFolders(
  "sqlite",
  (folder, options, life) => sqliteRepository({ ...options, folder, ownerId: `life ${life}` }),
  (folder, metadata, contents) =>
    createSqliteFile(join(folder, `${metadata.id}.db`), metadata, { clock: new VirtualClock() }, contents),
);
