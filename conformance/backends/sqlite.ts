/**
 * The SQLite store under the suite: over real files, and over images in memory.
 *
 * It declares no torn tail: its commits are made whole by SQLite's own log, which is not torn here by hand.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/foundation/index.ts";
import { CURRENT_STORAGE_VERSION, type SessionMetadata, SqliteStorage } from "../../src/storage/index.ts";
import type { StorageFactory } from "../storage/index.ts";
import { failingDatabase } from "./failing-database.ts";

function metadataAt(clock: Clock): SessionMetadata {
  return { id: "conformance", createdAt: clock.now(), storageVersion: CURRENT_STORAGE_VERSION };
}

function sqliteFactory(name: string, failure: Parameters<typeof failingDatabase>[0]): StorageFactory {
  return {
    name,
    capabilities: { survivesReopen: true, survivesCrash: true, failedCommit: true },
    async create({ clock }) {
      const folder = mkdtempSync(join(tmpdir(), "crashproof-conformance-"));
      const path = join(folder, "session.db");
      const database = failingDatabase(failure);
      // Each life has an owner of its own: after a crash the lease of the last one stands until it runs out.
      let lives = 0;
      const options = () => ({ clock, ownerId: `life ${++lives}`, connect: database.connect });
      let storage = await SqliteStorage.create({ kind: "file", path }, metadataAt(clock), options());
      return {
        storage,
        async reopen() {
          await storage.close();
          storage = await SqliteStorage.open({ kind: "file", path }, options());
          return storage;
        },
        crash: () => storage.abandon(),
        failNextCommit: () => database.failNextCommit(),
        async dispose() {
          await storage.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
  };
}

/** SQLite on a disk that is full for a moment: a failed commit is rolled back and the store goes on. */
export const sqliteBackend = sqliteFactory("sqlite", "SQLITE_FULL");

/** SQLite on a disk that fails while it commits: the store takes no commit until it is opened again. */
export const sqliteBackendInDoubt = sqliteFactory("sqlite on a failing disk", "SQLITE_IOERR");
