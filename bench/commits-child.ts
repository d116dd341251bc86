/**
 * A child that says what a commit to one store costs, against the least that the same medium can cost: the same bytes,
 * the same statements, the same values, by hand. And whether it stays flat as the session grows.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Gate, InstrumentedStorage, Timeline } from "../src/faults/index.ts";
import type { Transaction, Write } from "../src/model/index.ts";
import type { Storage } from "../src/storage/index.ts";
import { compare, type Timed } from "./measure.ts";
import { jsonlStore, memoryStore, sqliteStore } from "./stores.ts";
import { grown, TurnWriter } from "./workload.ts";

/** The stores whose commits are measured. */
export const MEASURED_STORES = ["Memory", "JSONL", "SQLite"] as const;

export interface CommitsRequest {
  readonly store: (typeof MEASURED_STORES)[number];
}

const COMMITS = 2_000;

export async function main(): Promise<void> {
  const { store } = JSON.parse(readFileSync(0, "utf8")) as CommitsRequest;
  const folder = mkdtempSync(join(tmpdir(), "crashproof-bench-"));
  try {
    await BENCHES[store](folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const BENCHES: Readonly<Record<CommitsRequest["store"], (folder: string) => Promise<void>>> = {
  Memory: async () => {
    await compare({
      name: "Memory commit / JSON round trip into Maps",
      ours: () => commitAll(memoryStore(), COMMITS),
      floor: () => roundTrips(COMMITS),
      goal: { timesMax: 2 },
      ...OF_COMMITS,
    });
    await benchInstrumented("Memory", memoryStore);
    await benchFlat("Memory", memoryStore);
  },
  JSONL: async (folder) => {
    await compare({
      name: "JSONL commit / JSON.stringify + fs.writeSync",
      ours: () => commitAll(jsonlStore(fresh(folder)), COMMITS),
      floor: () => writtenLines(folder, COMMITS),
      goal: { timesMax: 1.6 },
      ...OF_COMMITS,
    });
    await benchInstrumented("JSONL", () => jsonlStore(fresh(folder)));
    await benchFlat("JSONL", () => jsonlStore(fresh(folder)));
  },
  SQLite: async (folder) => {
    await compare({
      name: "SQLite commit / the same statements by hand",
      ours: async () => commitAll(await sqliteStore(fresh(folder)), COMMITS),
      floor: () => handWrittenStatements(folder, COMMITS),
      goal: { timesMax: 1.4 },
      ...OF_COMMITS,
    });
    await benchFlat("SQLite", () => sqliteStore(fresh(folder)));
  },
};

/** A slice of commits is over in milliseconds, and one collection of garbage lasts as long. */
const OF_COMMITS = { unit: "commit", slices: 5 } as const;

function benchInstrumented(name: string, make: () => Storage): Promise<void> {
  return compare({
    name: `instrumented commit / bare commit (${name})`,
    ours: () => commitAll(instrumented(make()), COMMITS),
    floor: () => commitAll(make(), COMMITS),
    goal: { timesMax: 1.15 },
    ...OF_COMMITS,
  });
}

/** Commits after 100,000 entries, in a store that stays open, against commits after 1,000. */
async function benchFlat(name: string, make: () => Storage | Promise<Storage>): Promise<void> {
  const large = await grown(await make(), 100_000);
  const more = ({ store, writer }: Awaited<ReturnType<typeof grown>>): Timed => {
    const transactions = writer.many(500);
    return async () => {
      for (const transaction of transactions) await store.commit(transaction);
      return transactions.length;
    };
  };
  await compare({
    name: `${name} commit at 100,000 entries / at 1,000`,
    ours: () => more(large),
    // A small store does not stay one: each measurement has its own.
    floor: async () => more(await grown(await make(), 1_000)),
    goal: { timesMax: 1.15 },
    ...OF_COMMITS,
  });
  await large.store.close();
}

function commitAll(store: Storage, count: number): Timed {
  const transactions = new TurnWriter(2).many(count);
  return async () => {
    for (const transaction of transactions) await store.commit(transaction);
    await store.close();
    return count;
  };
}

let fileCount = 0;

/** A name that no store and no floor has had. */
function fresh(folder: string): string {
  return join(folder, String(fileCount++));
}

function instrumented(store: Storage): Storage {
  return new InstrumentedStorage(store, {
    gate: new Gate({ open: true, cap: Number.MAX_SAFE_INTEGER }),
    timeline: new Timeline(),
    label: () => "commit",
  });
}

/** The floor of Memory: what a store must do at least so that nothing is shared, and so that it can be found. */
function roundTrips(count: number): Timed {
  const transactions = new TurnWriter(2).many(count);
  const entries = new Map<string, unknown>();
  const registers = new Map<string, unknown>();
  const usage = new Map<string, unknown>();
  return () => {
    for (const transaction of transactions) {
      const { writes } = JSON.parse(JSON.stringify(transaction)) as Transaction;
      for (const write of writes) {
        if (write.kind === "entry") entries.set(write.entry.id, write.entry);
        else if (write.kind === "usage") usage.set(write.row.id, write.row);
        else if (write.op === "set") registers.set(`${write.namespace}\u0000${write.key}`, write.value);
      }
    }
    return count;
  };
}

/** The floor of JSONL: the line as text, in one write. */
function writtenLines(folder: string, count: number): Timed {
  const transactions = new TurnWriter(2).many(count);
  const file = openSync(fresh(folder), "w");
  let seq = 0;
  return () => {
    for (const { writes } of transactions) {
      writeSync(file, `${JSON.stringify(writes.map((write) => stored(write, ++seq)))}\n`);
    }
    closeSync(file);
    return count;
  };
}

function stored(write: Write, seq: number): object {
  if (write.kind === "entry") return { kind: "entry", seq, timestamp: 1_700_000_000_000, ...write.entry };
  if (write.kind === "usage") return { kind: "usage", seq, ...write.row };
  return { ...write, seq };
}

/** The floor of SQLite: the rows of a commit in one immediate transaction, every statement prepared. */
function handWrittenStatements(folder: string, count: number): Timed {
  const transactions = new TurnWriter(2).many(count);
  const database = new Database(fresh(folder));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  database.exec(HAND_WRITTEN_SCHEMA);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const readSession = database.prepare("SELECT next_seq, message_count, usage_payload FROM session");
  const readLease = database.prepare("SELECT owner_id, fence FROM writer_lease");
  const renew = database.prepare("UPDATE writer_lease SET expires_at_ms = ?");
  const exists = database.prepare(
    "SELECT 1 FROM entries WHERE id = ? UNION ALL SELECT 1 FROM usage_ledger WHERE id = ?",
  );
  const entry = database.prepare("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)");
  const usage = database.prepare("INSERT INTO usage_ledger VALUES (?, ?, ?, ?, ?, ?)");
  const register = database.prepare(
    "INSERT INTO registers VALUES (?, ?, ?, ?) ON CONFLICT (namespace, key) DO UPDATE SET seq = excluded.seq, value = excluded.value",
  );
  const readTip = database.prepare("SELECT branch_id, tip_seq FROM branch_meta WHERE tip_entry_id = ?");
  const addBranch = database.prepare("INSERT INTO branch_meta VALUES (?, ?, ?, NULL, NULL)");
  const branchEntry = database.prepare("INSERT INTO branch_entries VALUES (?, ?, ?, ?)");
  const moveTip = database.prepare(
    "UPDATE branch_meta SET tip_entry_id = ?, tip_seq = ? WHERE branch_id = ?",
  );
  const session = database.prepare("UPDATE session SET next_seq = ?, message_count = ?, usage_payload = ?");
  let seq = 1;
  return () => {
    for (const { writes } of transactions) {
      begin.run();
      readLease.get();
      readSession.get();
      for (const write of writes) {
        if (write.kind === "entry") {
          const { id, parentId, type, ...payload } = write.entry;
          exists.get(id, id);
          entry.run(id, parentId, seq, type, null, 1_700_000_000_000, JSON.stringify(payload));
          const tip = readTip.get(parentId) as { branch_id: string } | undefined;
          const branch = tip?.branch_id ?? "b1";
          if (tip === undefined) addBranch.run(branch, id, seq);
          branchEntry.run(branch, id, seq, type);
          if (tip !== undefined) moveTip.run(id, seq, branch);
        } else if (write.kind === "usage") {
          const { id, entryId, adjustment } = write.row;
          exists.get(id, id);
          usage.run(id, seq, entryId ?? null, adjustment ? 1 : 0, JSON.stringify(write.row.usage), null);
        } else if (write.op === "set") {
          register.run(write.namespace, write.key, seq, JSON.stringify(write.value));
        }
        seq++;
      }
      session.run(seq, seq, "{}");
      renew.run(seq);
      commit.run();
    }
    database.close();
    return count;
  };
}

const HAND_WRITTEN_SCHEMA = `
  CREATE TABLE entries(id TEXT PRIMARY KEY, parent_id TEXT, seq INTEGER, type TEXT, custom_type TEXT, timestamp INTEGER, payload TEXT) WITHOUT ROWID;
  CREATE INDEX ix_entry_parent ON entries(parent_id);
  CREATE INDEX ix_entry_seq ON entries(seq, type);
  CREATE TABLE registers(namespace TEXT, key TEXT, seq INTEGER, value TEXT, PRIMARY KEY (namespace, key));
  CREATE TABLE usage_ledger(id TEXT PRIMARY KEY, seq INTEGER, entry_id TEXT, adjustment INTEGER, usage TEXT, details TEXT) WITHOUT ROWID;
  CREATE INDEX ix_usage_seq ON usage_ledger(seq);
  CREATE TABLE branch_entries(branch_id TEXT, entry_id TEXT, entry_seq INTEGER, entry_type TEXT, PRIMARY KEY (branch_id, entry_id)) WITHOUT ROWID;
  CREATE INDEX ix_be_seq ON branch_entries(branch_id, entry_seq, entry_id, entry_type);
  CREATE INDEX ix_be_type ON branch_entries(branch_id, entry_type, entry_seq, entry_id);
  CREATE INDEX ix_be_entry ON branch_entries(entry_id);
  CREATE TABLE branch_meta(branch_id TEXT PRIMARY KEY, tip_entry_id TEXT, tip_seq INTEGER, base_branch_id TEXT, base_seq INTEGER);
  CREATE UNIQUE INDEX ix_bm_tip ON branch_meta(tip_entry_id);
  CREATE TABLE session(next_seq INTEGER, message_count INTEGER, usage_payload TEXT);
  CREATE TABLE writer_lease(owner_id TEXT, fence INTEGER, expires_at_ms INTEGER);
  INSERT INTO session VALUES (1, 0, '{}');
  INSERT INTO writer_lease VALUES ('floor', 1, 0);
`;
