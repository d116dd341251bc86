/** The JSONL store under the suite: real files, each session in a folder of its own. */
import { mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CURRENT_STORAGE_VERSION, JsonlStorage } from "../../src/storage/index.ts";
import type { StorageFactory } from "../storage/index.ts";
import { type Damage, FailingFiles } from "./failing-files.ts";

function jsonlFactory(name: string, damage: Damage): StorageFactory {
  return {
    name,
    capabilities: { survivesReopen: true, survivesCrash: true, tornTail: true, failedCommit: true },
    async create({ clock }) {
      const folder = mkdtempSync(join(tmpdir(), "crashproof-conformance-"));
      const path = join(folder, "session.jsonl");
      const fileSystem = new FailingFiles(damage);
      const metadata = {
        id: "conformance",
        createdAt: clock.now(),
        storageVersion: CURRENT_STORAGE_VERSION,
      };
      let storage = JsonlStorage.create({ path, clock, fileSystem, metadata });
      return {
        storage,
        async reopen() {
          await storage.close();
          storage = JsonlStorage.open({ path, clock, fileSystem });
          return storage;
        },
        crash: () => storage.abandon(),
        async tearLastCommit(bytesWritten) {
          storage.abandon();
          const { position, byteCount } = fileSystem.lastWrite;
          if (bytesWritten < byteCount) truncateSync(path, position + bytesWritten);
          return { byteCount };
        },
        failNextCommit: () => fileSystem.failNextWrite(),
        async dispose() {
          await storage.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
  };
}

/** JSONL on a disk that is full for a moment: the store cuts a failed commit off again and goes on. */
export const jsonlBackend = jsonlFactory("jsonl", "removable");

/** JSONL on a disk that also refuses the cut: the store takes no commit until it is opened again. */
export const jsonlBackendInDoubt = jsonlFactory("jsonl on a failing disk", "stays until reopened");
