/**
 * Files of every kind and in every condition, made anew in a folder: what the golden outputs are outputs of. They come
 * from the writers of this project over a virtual clock, and what is damaged is damaged here, so each is what it says.
 */
import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import type { Write } from "../../model/index.ts";
import { createSqliteSearchService, memoryRepository } from "../../session/index.ts";
import {
  createJsonlFile,
  createSqliteFile,
  readJsonlSession,
  type SessionDump,
  SqliteStorage,
} from "../../storage/index.ts";
import { migratedJsonl } from "../migrated.ts";

/** Unix ms of the time at which everything is looked at, some minutes after it was written. */
export const NOW_MS = 1_767_600_300_000;
const WRITTEN_MS = NOW_MS - 200_000;

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url));

/** The bytes of a committed fixture. */
const fixture = (name: string): Buffer => readFileSync(join(fixtures, name));

/** A session of the current version with open operations, queues and facts: the hand-written one, brought up. */
async function openSession(): Promise<SessionDump> {
  const bytes = fixture("sessions/version-0-open.jsonl");
  return (await migratedJsonl(bytes, readJsonlSession(bytes).dump)).dump;
}

/** Makes all files. Their names say what they are. */
export async function makeFiles(folder: string): Promise<void> {
  const dump = await openSession();
  for (const name of ["v1-linear", "v2-hook-message", "v3-application", "v3-library", "v3-damaged"]) {
    write(folder, `${name}.jsonl`, fixture(`sessions/${name}.jsonl`));
  }
  const old = fixture("sessions/version-0-open.jsonl");
  write(folder, "version-0-open.jsonl", old);
  // What no migration knows, and a damage behind it.
  const stray =
    '{"kind":"register","op":"set","seq":900,"namespace":"op.state","key":"x","value":5}\n{"kind"\n';
  write(folder, "version-0-damaged.jsonl", Buffer.concat([old, Buffer.from(stray)]));
  makeJsonl(folder, dump);
  await makeSqlite(folder, dump);
  makeTransactional(folder);
  await makeOthers(folder);
}

function makeJsonl(folder: string, dump: SessionDump): void {
  const path = join(folder, "jsonl-open.jsonl");
  createJsonlFile(path, dump.metadata, undefined, dump);
  const bytes = readFileSync(path);
  const lines = bytes.toString("utf8").split("\n");
  const changed = (change: (line: string, index: number) => string) => lines.map(change).join("\n");
  write(folder, "jsonl-torn.jsonl", Buffer.concat([bytes, Buffer.from('[{"kind":"entry","seq":99,"time')]));
  write(folder, "jsonl-zero-tail.jsonl", Buffer.concat([bytes, Buffer.alloc(512)]));
  write(
    folder,
    "jsonl-damaged-line.jsonl",
    changed((line, at) => (at === 3 ? line.replace("{", "<") : line)),
  );
  write(
    folder,
    "jsonl-damaged-header.jsonl",
    changed((line, at) => (at === 0 ? line.slice(7) : line)),
  );
  write(folder, "jsonl-carriage-returns.jsonl", `${lines.slice(0, -1).join("\r\n")}\r\n`);
  write(
    folder,
    "jsonl-newer.jsonl",
    changed((line, at) => (at === 0 ? line.replace('"storageVersion":1', '"storageVersion":7') : line)),
  );
  write(folder, "jsonl-headless.jsonl", '{"v":4,"kind":"header"}\n');
  const without = (mark: string) =>
    changed((line) => (line.includes(mark) ? "" : line)).replace(/\n\n+/g, "\n");
  // The lane `research` names an operation whose state is gone, and what `main` has queued has lost its content.
  const operation = dump.registers.filter(({ namespace }) => namespace === "op.state").at(-1)?.key ?? "";
  write(folder, "jsonl-lost-state.jsonl", without(`"namespace":"op.state","key":"${operation}"`));
  const pending = dump.registers.find(({ namespace }) => namespace === "pending.entry")?.key ?? "";
  write(folder, "jsonl-lost-input.jsonl", without(`"namespace":"pending.entry","key":"${pending}"`));
  write(
    folder,
    "jsonl-wrong-shape.jsonl",
    changed((line) => line.replace('"thinkingLevel":"high"', '"thinkingLevel":"loud"')),
  );
  write(
    folder,
    "jsonl-control-characters.jsonl",
    changed((line) => line.replace('"value":"clean-up"', '"value":"\\u001b[31mred\\u202e\\n"')),
  );
  write(folder, "jsonl-leftovers.jsonl", bytes);
  write(folder, "jsonl-leftovers.jsonl.new-1", bytes.subarray(0, 300));
  write(folder, "gone.jsonl.new-2", bytes.subarray(0, 100));
}

async function makeSqlite(folder: string, dump: SessionDump): Promise<void> {
  const clock = new VirtualClock(WRITTEN_MS);
  const at = (name: string) => join(folder, name);
  createSqliteFile(at("sqlite-open.db"), dump.metadata, { clock }, dump);
  // A writer that was killed: its files, copied while it had them open.
  copyFileSync(at("sqlite-open.db"), at("writer.db"));
  const writer = await SqliteStorage.open(
    { kind: "file", path: at("writer.db") },
    { clock, ownerId: "a writer", leaseDurationMs: 3_600_000 },
  );
  const names = ["first", "second", "third"];
  for (const name of names) await writer.commit({ writes: [nameWrite(name)] });
  for (const suffix of ["", "-wal", "-shm"])
    copyFileSync(at("writer.db") + suffix, at("sqlite-killed.db") + suffix);
  await writer.close();
  for (const suffix of ["", "-wal"])
    copyFileSync(at("sqlite-killed.db") + suffix, at("sqlite-torn-wal.db") + suffix);
  copyFileSync(at("sqlite-killed.db"), at("sqlite-damaged-wal.db"));
  const wal = readFileSync(at("sqlite-killed.db-wal"));
  truncateSync(at("sqlite-torn-wal.db-wal"), wal.length - 1_000);
  const damaged = Buffer.from(wal);
  const frameBytes = 24 + wal.readUInt32BE(8);
  damaged[32 + frameBytes + 100] = (damaged[32 + frameBytes + 100] ?? 0) ^ 0xff;
  write(folder, "sqlite-damaged-wal.db-wal", damaged);
  write(folder, "orphan.db-wal", wal);

  const database = readFileSync(at("sqlite-open.db"));
  const pageBytes = database.readUInt16BE(16);
  const zeroed = (page: number) => Buffer.from(database).fill(0, (page - 1) * pageBytes, page * pageBytes);
  write(folder, "sqlite-damaged-page.db", zeroed(2));
  write(folder, "sqlite-truncated.db", database.subarray(0, 3 * pageBytes + 100));
  write(folder, "sqlite-damaged-header.db", Buffer.from(database).fill(0xee, 20, 60));
  edited(folder, "sqlite-damaged-index.db", database, "UPDATE branch_meta SET tip_seq = tip_seq + 1");
  edited(folder, "sqlite-wrong-totals.db", database, "UPDATE session SET message_count = 40");
  edited(
    folder,
    "sqlite-wrong-amounts.db",
    database,
    `UPDATE session SET usage_payload = replace(usage_payload, '"cacheRead":0', '"cacheRead":5')`,
  );
  const newerFormat = Buffer.from(database);
  newerFormat[SCHEMA_FORMAT_AT] = 0xff;
  write(folder, "sqlite-newer-format.db", newerFormat);
  edited(folder, "sqlite-newer.db", database, "UPDATE session SET storage_version = 7");
  edited(
    folder,
    "sqlite-not-json.db",
    database,
    "UPDATE registers SET value = 'x' WHERE namespace = 'fact.name'",
  );
  edited(folder, "sqlite-lost-entry.db", database, "DELETE FROM entries WHERE parent_id IS NULL");
  edited(folder, "database-of-others.db", Buffer.alloc(0), "CREATE TABLE t(x)");
}

/** In the header of a database: the last byte of the version of its schema's format. */
const SCHEMA_FORMAT_AT = 47;

function nameWrite(value: string): Write {
  return { kind: "register", op: "set", namespace: "fact.name", key: "", value };
}

/** A database changed behind everybody's back. */
function edited(folder: string, name: string, bytes: Uint8Array, sql: string): void {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

function makeTransactional(folder: string): void {
  const open = fixture("txlog/pending-safe-tool.jsonl");
  write(folder, "transactional-open.jsonl", open);
  write(folder, "transactional-idle.jsonl", fixture("txlog/completed-tool-run.jsonl"));
  write(folder, "transactional-torn.jsonl", open.subarray(0, open.length - 40));
  const lines = open.toString("utf8").split("\n");
  const change = (at: number, to: (line: string) => string) =>
    lines.map((line, index) => (index === at ? to(line) : line)).join("\n");
  write(
    folder,
    "transactional-damaged.jsonl",
    change(2, (line) => line.replace('"seq":', '"seq":9')),
  );
  write(
    folder,
    "transactional-newer.jsonl",
    change(0, (line) => line.replace('"version":2', '"version":3')),
  );
  const notUtf8 = Buffer.from(open);
  notUtf8[open.indexOf("\n") + 30] = 0xff;
  write(folder, "transactional-not-utf8.jsonl", notUtf8);
}

async function makeOthers(folder: string): Promise<void> {
  write(folder, "journal.jsonl.zstd", Buffer.from("28b52ffd2400010000", "hex"));
  const header = { type: "session", version: 3, id: "j", createdAt: 1, isSeeded: false, delegationDepth: 0 };
  write(folder, "session.v3.jsonl", `${JSON.stringify(header)}\n`);
  write(folder, "session.lock", "");
  write(folder, "empty.jsonl", "");
  write(folder, "README.md", '# Notes\n\nA session starts like this:\n\n    {"v":4,"kind":"header"}\n');
  write(folder, "picture.db", Buffer.from("89504e470d0a1a0a00000000", "hex"));
  write(folder, "numbers.jsonl", '{"n":1}\n{"n":2}\n');
  const [header3 = ""] = LEGACY_CYCLE.split("\n");
  write(folder, "legacy-many-warnings.jsonl", `${header3}\n${"{torn\n".repeat(40)}`);
  write(folder, "legacy-unknown.jsonl", '{"type":"session","version":9,"id":"s"}\n');
  write(folder, "legacy-cycle.jsonl", LEGACY_CYCLE);
  const clock = new VirtualClock(WRITTEN_MS);
  const repository = memoryRepository({ clock, idGenerator: idsOfIncarnation(1, 0, clock) });
  const search = createSqliteSearchService({ repository, path: join(folder, "search.db"), clock });
  await search.sync();
  await search.close();
  mkdirSync(join(folder, "below"));
}

const LEGACY_CYCLE = `${[
  { type: "session", version: 3, id: "s", timestamp: "2026-01-05T08:00:00.000Z", cwd: "/" },
  { type: "custom", id: "a", parentId: "a", timestamp: "2026-01-05T08:00:00.000Z", customType: "x" },
]
  .map((line) => JSON.stringify(line))
  .join("\n")}\n`;

function write(folder: string, name: string, content: Uint8Array | string): void {
  writeFileSync(join(folder, name), content);
}
