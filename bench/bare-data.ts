/**
 * The floors of crash states: for each cut, copy the data as it stood, reopen it, put the commits that are still to
 * come on it, read everything back, compare with what it must be. By hand, on the bare medium.
 */
import { closeSync, copyFileSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Write } from "../src/model/index.ts";
import type { Timed } from "./measure.ts";
import type { RecordedRun } from "./recorded.ts";

/** Rows by kind and key, as JSON values. */
type Rows = Map<string, unknown>;

export function bareMemory({ commits, cuts }: RecordedRun): Timed {
  const snapshots = prefixes(commits);
  const expected = textOf(snapshots.at(-1) ?? new Map());
  return () => {
    for (const done of cuts) {
      const rows: Rows = new Map(snapshots[done]);
      for (const writes of commits.slice(done)) apply(rows, JSON.parse(JSON.stringify(writes)) as Write[]);
      assertSame(textOf(rows), expected);
    }
    return cuts.length;
  };
}

export function bareJsonl({ commits, cuts }: RecordedRun, folder: string): Timed {
  const paths = commits.map((_, done) => join(folder, `bare-${done}.jsonl`));
  paths.push(join(folder, `bare-${commits.length}.jsonl`));
  paths.forEach((path, done) => {
    writeFileSync(path, commits.slice(0, done).map(lineOf).join(""));
  });
  const expected = textOf(prefixes(commits).at(-1) ?? new Map());
  const copy = join(folder, "bare-copy.jsonl");
  return () => {
    for (const done of cuts) {
      copyFileSync(paths[done] ?? "", copy);
      readLines(copy);
      const file = openSync(copy, "a");
      for (const writes of commits.slice(done)) writeSync(file, lineOf(writes));
      closeSync(file);
      assertSame(textOf(readLines(copy)), expected);
      rmSync(copy);
    }
    return cuts.length;
  };
}

/** On images, but for one cut in `fileShare`, which runs on a copy of the file. */
export function bareSqlite({ commits, cuts }: RecordedRun, folder: string, fileShare: number): Timed {
  const path = join(folder, "bare.sqlite");
  rmSync(path, { force: true });
  const database = new Database(path);
  database.exec("CREATE TABLE rows(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID");
  const images = [database.serialize()];
  for (const writes of commits) {
    put(database, writes);
    images.push(database.serialize());
  }
  const expected = allRows(database);
  database.close();
  const copy = join(folder, "bare-copy.sqlite");
  return () => {
    cuts.forEach((done, index) => {
      const isFile = index % fileShare === 0;
      const image = images[done] ?? Buffer.alloc(0);
      if (isFile) writeFileSync(copy, image);
      const open = isFile ? new Database(copy) : new Database(image);
      if (isFile) {
        open.pragma("journal_mode = WAL");
        open.pragma("synchronous = NORMAL");
      }
      for (const writes of commits.slice(done)) put(open, writes);
      assertSame(allRows(open), expected);
      open.close();
      if (isFile) rmSync(copy);
    });
    return cuts.length;
  };
}

function put(database: Database.Database, writes: readonly Write[]): void {
  const set = database.prepare(
    "INSERT INTO rows VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  const remove = database.prepare("DELETE FROM rows WHERE key = ?");
  database.exec("BEGIN IMMEDIATE");
  for (const write of writes) {
    if (isDelete(write)) remove.run(keyOf(write));
    else set.run(keyOf(write), JSON.stringify(contentOf(write)));
  }
  database.exec("COMMIT");
}

function allRows(database: Database.Database): string {
  return JSON.stringify(database.prepare("SELECT key, value FROM rows ORDER BY key").raw().all());
}

function prefixes(commits: readonly (readonly Write[])[]): Rows[] {
  const snapshots: Rows[] = [new Map()];
  for (const writes of commits) {
    const rows: Rows = new Map(snapshots.at(-1));
    apply(rows, writes);
    snapshots.push(rows);
  }
  return snapshots;
}

function readLines(path: string): Rows {
  const rows: Rows = new Map();
  for (const line of readFileSync(path, "utf8").split("\n"))
    if (line !== "") apply(rows, JSON.parse(line) as Write[]);
  return rows;
}

function lineOf(writes: readonly Write[]): string {
  return `${JSON.stringify(writes)}\n`;
}

function apply(rows: Rows, writes: readonly Write[]): void {
  for (const write of writes) {
    if (isDelete(write)) rows.delete(keyOf(write));
    else rows.set(keyOf(write), contentOf(write));
  }
}

function isDelete(write: Write): boolean {
  return write.kind === "register" && write.op === "delete";
}

function keyOf(write: Write): string {
  if (write.kind === "entry") return `entry ${write.entry.id}`;
  return write.kind === "usage" ? `usage ${write.row.id}` : `${write.namespace} ${write.key}`;
}

function contentOf(write: Write): unknown {
  if (write.kind === "entry") return write.entry;
  if (write.kind === "usage") return write.row;
  return write.op === "set" ? write.value : undefined;
}

function textOf(rows: Rows): string {
  return JSON.stringify([...rows].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function assertSame(found: string, expected: string): void {
  if (found !== expected) throw new Error("the floor is wrong: the replayed data differs");
}
