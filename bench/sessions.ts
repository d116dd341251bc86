/** What long sessions cost: the memory of opening one, the time of opening one, and what a fork of a branch copies. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Write } from "../src/model/index.ts";
import type { Storage } from "../src/storage/index.ts";
import { askChild } from "./child.ts";
import { compare, megabytes, say } from "./measure.ts";
import type { OpenRequest } from "./open-child.ts";
import { jsonlStore, openSqlite, sqliteStore } from "./stores.ts";
import { grown, TurnWriter } from "./workload.ts";

const LONG_BYTES = 60 * 1024 * 1024;

export async function benchSessions(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "crashproof-bench-"));
  try {
    await benchMemory(join(folder, "long.jsonl"));
    await benchOpening(folder);
    await benchForks(join(folder, "forks.db"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Resident bytes at most, over the size of the file. */
async function benchMemory(path: string): Promise<void> {
  const store = jsonlStore(path);
  const writer = new TurnWriter(1);
  while (statSync(path).size < LONG_BYTES)
    for (let line = 0; line < 500; line++) await store.commit(writer.next());
  await store.close();
  const size = statSync(path).size;
  const residentBytes = async (request: OpenRequest) =>
    (await askChild("./open-child.ts", request)) as number;
  const resident = await residentBytes({ path });
  const bare = await residentBytes({});
  say({
    name: `JSONL session of ${megabytes(size)}, resident when opened / its size`,
    isMet: resident < 5 * size,
    figures: `${(resident / size).toFixed(2)} × (goal < 5)`,
    detail: `${megabytes(resident)} at most, ${megabytes(bare)} of them without a session`,
  });
}

async function benchOpening(folder: string): Promise<void> {
  const [short, long] = [join(folder, "short.db"), join(folder, "long.db")];
  await (await grown(await sqliteStore(short), 1_000)).store.close();
  await (await grown(await sqliteStore(long), 100_000)).store.close();
  const opens = (path: string) => () => async () => {
    for (let count = 0; count < 20; count++) {
      const store = await openSqlite(path);
      await store.close();
    }
    return 20;
  };
  await compare({
    name: "SQLite open of 100,000 entries / of 1,000",
    ours: opens(long),
    floor: opens(short),
    unit: "open",
    goal: { timesMax: 1.3 },
  });
}

/** Rows of the branch index that appending after a fork copies, against the entries since the newest compaction. */
async function benchForks(path: string): Promise<void> {
  const store = await sqliteStore(path);
  const before = 100_000;
  const interval = 50;
  await append(store, "a", null, before);
  await commitEntry(store, "c", `a${before - 1}`, true);
  await append(store, "b", "c", interval);
  await store.close();
  const rowsBefore = rowCount(path);
  const again = await openSqlite(path);
  // The newest entry but one, so that the whole interval but its tip lies before the fork.
  await commitEntry(again, "fork", `b${interval - 2}`, false);
  await again.close();
  const copied = rowCount(path) - rowsBefore - 1;
  say({
    name: `SQLite append after a fork, rows copied / entries since the compaction`,
    isMet: copied <= interval,
    figures: `${copied} of ${interval} (goal: no more)`,
    detail: `behind a branch of ${before.toLocaleString("en")} entries`,
  });
}

async function append(store: Storage, prefix: string, parentId: string | null, count: number): Promise<void> {
  const perCommit = 1_000;
  for (let from = 0; from < count; from += perCommit) {
    const writes: Write[] = [];
    for (let at = from; at < Math.min(count, from + perCommit); at++) {
      writes.push(entryWrite(`${prefix}${at}`, at === 0 ? parentId : `${prefix}${at - 1}`, false));
    }
    await store.commit({ writes });
  }
}

async function commitEntry(
  store: Storage,
  id: string,
  parentId: string,
  isCompaction: boolean,
): Promise<void> {
  await store.commit({ writes: [entryWrite(id, parentId, isCompaction)] });
}

function entryWrite(id: string, parentId: string | null, isCompaction: boolean): Write {
  const placed = { id, parentId };
  return isCompaction
    ? {
        kind: "entry",
        entry: {
          ...placed,
          type: "compaction",
          summary: "s",
          retainedTail: [],
          tokensBefore: 1,
          fromHook: false,
        },
      }
    : { kind: "entry", entry: { ...placed, type: "custom", customType: "bench" } };
}

function rowCount(path: string): number {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare("SELECT count(*) FROM branch_entries").pluck().get() as number;
  } finally {
    database.close();
  }
}
