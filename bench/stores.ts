/** The stores of the session that is measured: new, and opened again. */
import { VirtualClock } from "../src/foundation/index.ts";
import { JsonlStorage, MemoryDisk, MemoryStorage, SqliteStorage } from "../src/storage/index.ts";
import { METADATA } from "./workload.ts";

const clock = new VirtualClock();

const sqliteOptions = { clock, ownerId: "bench" };

export function memoryStore(): MemoryStorage {
  return new MemoryStorage({ disk: MemoryDisk.create(METADATA), clock });
}

export function jsonlStore(path: string): JsonlStorage {
  return JsonlStorage.create({ path, clock, metadata: METADATA });
}

export function openJsonl(path: string): JsonlStorage {
  return JsonlStorage.open({ path, clock });
}

export function sqliteStore(path: string): Promise<SqliteStorage> {
  return SqliteStorage.create({ kind: "file", path }, METADATA, sqliteOptions);
}

export function openSqlite(path: string): Promise<SqliteStorage> {
  return SqliteStorage.open({ kind: "file", path }, sqliteOptions);
}
