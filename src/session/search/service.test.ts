import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Clock, idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import type { Connect } from "../../storage/index.ts";
import type { FileSessionMetadata, SessionRepository } from "../repository/contract.ts";
import { jsonlRepository } from "../repository/jsonl.ts";
import { sqliteRepository } from "../repository/sqlite.ts";
import type { Session } from "../session.ts";
import { IndexDatabase } from "./index-database.ts";
import { createSqliteSearchService, type SearchServiceOptions } from "./service.ts";

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "search-"));
});
afterEach(() => rmSync(scratch, { recursive: true }));

const clock = new VirtualClock();
const idGenerator = idsOfIncarnation(5, 0, clock);
const KINDS = ["jsonl", "sqlite"] as const;

function repositoryOf(kind: (typeof KINDS)[number] = "jsonl"): SessionRepository<FileSessionMetadata> {
  const options = { folder: join(scratch, kind), clock, idGenerator };
  return kind === "jsonl" ? jsonlRepository(options) : sqliteRepository({ ...options, ownerId: "test" });
}

function serviceOver(
  repository: SessionRepository<FileSessionMetadata>,
  options: Partial<SearchServiceOptions<FileSessionMetadata>> = {},
) {
  return createSqliteSearchService({
    repository,
    path: join(scratch, "index", "search.db"),
    clock,
    ...options,
  });
}

const say = (session: Session, content: string) =>
  session.appendMessage({ role: "user", content, timestamp: 1 });

/** A closed session in which these messages were said. */
async function told(
  repository: SessionRepository<FileSessionMetadata>,
  id: string,
  ...messages: string[]
): Promise<FileSessionMetadata> {
  const session = await repository.create({ id });
  for (const message of messages) await say(session, message);
  await session.close();
  return session.metadata;
}

/** What an index holds, without the numbers that are only its own. */
function contentsOf(path = join(scratch, "index", "search.db")): unknown {
  const database = new Database(path);
  try {
    database.exec("INSERT INTO documents_fts(documents_fts) VALUES ('integrity-check')");
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    return {
      documents: database.prepare("SELECT session_id, entry_id, text FROM documents ORDER BY 1, 2").all(),
      cursors: database.prepare("SELECT session_id, generation, seq, entry_id FROM cursors ORDER BY 1").all(),
      words: database
        .prepare("SELECT rowid IS NOT NULL AS found FROM documents_fts WHERE documents_fts MATCH 'word'")
        .all().length,
    };
  } finally {
    database.close();
  }
}

describe.each(KINDS)("search over a %s repository", (kind) => {
  it("finds sessions by words that are all there, the best match first", async () => {
    const repository = repositoryOf(kind);
    await told(repository, "a", "the auth migration is done", "nothing else");
    await told(
      repository,
      "b",
      "auth",
      "a long text about many things, and the Migration of the AUTH tables among them",
    );
    await told(repository, "c", "auth only");
    const search = serviceOver(repository);
    expect(await search.sync()).toEqual({ sessions: 3, entries: 5, removed: 0, failures: [] });
    const hits = await search.searchSessions({ text: "migration auth" });
    expect(hits.map(({ sessionId }) => sessionId)).toEqual(["a", "b"]);
    expect(hits[0]?.top).toMatchObject({ snippet: "the auth migration is done", timestamp: clock.now() });
    expect(hits[0]?.score).toBeGreaterThan(hits[1]?.score ?? Number.POSITIVE_INFINITY);
    expect((await search.searchEntries({ text: "auth" })).map(({ sessionId }) => sessionId).sort()).toEqual([
      "a",
      "b",
      "b",
      "c",
    ]);
    expect(await search.searchSessions({ text: "auth", limit: 1 })).toHaveLength(1);
    expect(await search.searchEntries({ text: "auth", limit: 2 })).toHaveLength(2);
    expect(await search.searchEntries({ text: "auth", limit: 0 })).toEqual([]);
    expect(await search.searchSessions({ text: '"' })).toEqual([]);
    expect(await search.searchSessions({ text: "absent" })).toEqual([]);
    await search.close();
  });

  it("reads only what is new, of every branch, beside the session that writes it", async () => {
    const repository = repositoryOf(kind);
    const session = await repository.create({ id: "s" });
    for (let count = 0; count < 7; count++) await say(session, `word ${count}`);
    const search = serviceOver(repository, { batchEntries: 3 });
    expect(await search.sync()).toMatchObject({ sessions: 1, entries: 7 });
    expect(await search.sync()).toMatchObject({ sessions: 1, entries: 0 });
    const aside = {
      type: "message",
      id: "aside",
      parentId: null,
      message: { role: "user", content: "aside", timestamp: 1 },
    } as const;
    await session.commit({ writes: [{ kind: "entry", entry: aside }] });
    await session.appendCustomEntry("note", "not a message");
    expect(await search.sync()).toMatchObject({ entries: 2 });
    expect((await search.searchEntries({ text: "aside" })).map(({ entryId }) => entryId)).toEqual(["aside"]);
    expect(await search.searchEntries({ text: "word" })).toHaveLength(7);
    await session.close();
    await search.close();
  });

  it("starts a session over that was rewritten, and keeps no byte of what was erased", async () => {
    const repository = repositoryOf(kind);
    const metadata = await told(repository, "s", "kept word", "the Xanadu secret", "another word");
    await told(repository, "other", "stays");
    const search = serviceOver(repository);
    await search.sync();
    expect(await search.searchEntries({ text: "xanadu" })).toHaveLength(1);
    await repository.rewrite(metadata, {
      entry: (entry) => (JSON.stringify(entry).includes("Xanadu") ? undefined : entry),
    });
    expect(await search.sync()).toMatchObject({ sessions: 2, entries: 2 });
    expect(await search.searchEntries({ text: "xanadu" })).toEqual([]);
    expect(await search.searchEntries({ text: "word" })).toHaveLength(2);
    await search.close();
    for (const name of readdirSync(join(scratch, "index"))) {
      const bytes = readFileSync(join(scratch, "index", name)).toString("latin1");
      expect(bytes.toLowerCase().includes("xanadu")).toBe(false);
    }
  });

  it("starts a session over when another of its id has taken its place", async () => {
    const repository = repositoryOf(kind);
    const first = await told(repository, "daily", "yesterday word", "more of yesterday", "and more");
    const search = serviceOver(repository);
    await search.sync();
    await repository.delete(first);
    await told(repository, "daily", "today word", "more of today", "and more", "and even more");
    await search.sync();
    expect(await search.searchEntries({ text: "yesterday" })).toEqual([]);
    expect(await search.searchEntries({ text: "today" })).toHaveLength(2);
    await search.close();
  });

  it("forgets what is removed, and what the repository has no more", async () => {
    const repository = repositoryOf(kind);
    const gone = await told(repository, "gone", "word one");
    const removed = await told(repository, "removed", "word two");
    await told(repository, "stays", "word three");
    const search = serviceOver(repository);
    await search.sync();
    await repository.delete(removed);
    await search.remove("removed");
    await search.remove("never there");
    expect((await search.searchSessions({ text: "word" })).map(({ sessionId }) => sessionId).sort()).toEqual([
      "gone",
      "stays",
    ]);
    await repository.delete(gone);
    expect(await search.sync()).toMatchObject({ sessions: 1, removed: 1 });
    expect((await search.searchSessions({ text: "word" })).map(({ sessionId }) => sessionId)).toEqual([
      "stays",
    ]);
    await search.close();
  });

  it("goes on with an index that another life left, and makes it for its owner alone", async () => {
    const repository = repositoryOf(kind);
    await told(repository, "s", "word");
    const first = serviceOver(repository);
    await first.sync();
    await first.close();
    await first.close();
    expect(statSync(join(scratch, "index")).mode & 0o777).toBe(0o700);
    expect(statSync(join(scratch, "index", "search.db")).mode & 0o777).toBe(0o600);
    await expect(first.searchSessions({ text: "word" })).rejects.toMatchObject({ code: "SEARCH_CLOSED" });
    await expect(first.sync()).rejects.toMatchObject({ code: "SEARCH_CLOSED" });
    const second = serviceOver(repository);
    expect(await second.searchSessions({ text: "word" })).toHaveLength(1);
    expect(await second.sync()).toMatchObject({ entries: 0 });
    await second.close();
  });
});

describe("sync", () => {
  it("names what it could not read, keeps what is indexed of it, and goes on", async () => {
    const repository = repositoryOf();
    const broken = await told(repository, "broken", "word one");
    await told(repository, "sound", "word two");
    const search = serviceOver(repository);
    await search.sync();
    const line = '{"kind":"entry"}\n';
    writeFileSync(broken.path, readFileSync(broken.path, "utf8") + line);
    writeFileSync(join(scratch, "jsonl", "foreign.jsonl"), "not a session\n");
    const report = await search.sync();
    expect(report).toMatchObject({ sessions: 1, removed: 0 });
    expect(report.failures).toEqual([
      expect.objectContaining({ path: join(scratch, "jsonl", "foreign.jsonl") }),
      { sessionId: "broken", error: expect.objectContaining({ code: "CORRUPTION" }) },
    ]);
    expect(await search.searchSessions({ text: "word" })).toHaveLength(2);
    await search.close();
  });

  it("starts a session over whose file lost its tail and grew again", async () => {
    const repository = repositoryOf();
    const metadata = await told(repository, "s", "word", "lost with the power");
    const search = serviceOver(repository);
    await search.sync();
    const text = readFileSync(metadata.path, "utf8");
    truncateSync(metadata.path, Buffer.byteLength(`${text.split("\n").slice(0, -2).join("\n")}\n`));
    const session = await repository.open(metadata);
    await say(session, "said again");
    await say(session, "and more");
    await session.close();
    await search.sync();
    expect(await search.searchEntries({ text: "lost" })).toEqual([]);
    expect(await search.searchEntries({ text: "said" })).toHaveLength(1);
    await search.close();
  });

  it("refuses a database of something else, and makes an index of an older layout again", async () => {
    const repository = repositoryOf();
    await told(repository, "s", "word");
    const foreign = join(scratch, "foreign.db");
    const other = new Database(foreign);
    other.exec("CREATE TABLE precious(x)");
    other.close();
    const bytes = readFileSync(foreign);
    expect(() => serviceOver(repository, { path: foreign })).toThrow("of something else");
    expect(readFileSync(foreign).equals(bytes)).toBe(true);
    writeFileSync(
      join(scratch, "text"),
      "not a database at all, only text that is long enough to be looked at",
    );
    expect(() => serviceOver(repository, { path: join(scratch, "text") })).toThrow("the index is damaged");

    const first = serviceOver(repository);
    await first.sync();
    await first.close();
    const old = new Database(join(scratch, "index", "search.db"));
    old.pragma("user_version = 0");
    old.close();
    const newer = join(scratch, "newer.db");
    await serviceOver(repository, { path: newer }).close();
    const raised = new Database(newer);
    raised.pragma("user_version = 99");
    raised.close();
    expect(() => serviceOver(repository, { path: newer })).toThrow("a newer program");
    const second = serviceOver(repository);
    expect(await second.searchSessions({ text: "word" })).toEqual([]);
    expect(await second.sync()).toMatchObject({ entries: 1 });
    await second.close();
  });
});

/** A clock whose sleepers wait until they are woken. */
class WakingClock implements Clock {
  sleeps: { delayMs: number; wake: () => void }[] = [];

  now(): number {
    return 1;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.sleeps.push({ delayMs, wake: resolve });
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async wakeAll(): Promise<void> {
    for (const { wake } of this.sleeps.splice(0)) wake();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }
}

describe("hints", () => {
  /** A repository that counts what is asked of it. */
  function counting(repository: SessionRepository<FileSessionMetadata>) {
    const calls = { read: 0, list: 0 };
    const counted = {
      ...bound(repository),
      read: (...call: Parameters<typeof repository.read>) => {
        calls.read += 1;
        return repository.read(...call);
      },
      list: (...call: Parameters<typeof repository.list>) => {
        calls.list += 1;
        return repository.list(...call);
      },
    } as SessionRepository<FileSessionMetadata>;
    return { counted, calls };
  }

  const bound = (repository: SessionRepository<FileSessionMetadata>) => ({
    create: repository.create.bind(repository),
    open: repository.open.bind(repository),
    delete: repository.delete.bind(repository),
    fork: repository.fork.bind(repository),
    rewrite: repository.rewrite.bind(repository),
  });

  it("are followed once, after the wait, whatever their number", async () => {
    const repository = repositoryOf();
    const metadata = await told(repository, "s", "word");
    const { counted, calls } = counting(repository);
    const waking = new WakingClock();
    const search = serviceOver(counted, { clock: waking, debounceMs: 250 });
    await search.sync();
    const session = await repository.open(metadata);
    await say(session, "fresh");
    const before = { ...calls };
    for (let hint = 0; hint < 10; hint++) search.notify("s");
    expect(waking.sleeps.map(({ delayMs }) => delayMs)).toEqual([250]);
    expect(await search.searchEntries({ text: "fresh" })).toEqual([]);
    await waking.wakeAll();
    expect(await search.searchEntries({ text: "fresh" })).toHaveLength(1);
    expect([calls.read - before.read, calls.list - before.list]).toEqual([1, 0]);
    await say(session, "later");
    search.notify("s");
    await waking.wakeAll();
    expect(await search.searchEntries({ text: "later" })).toHaveLength(1);
    await session.close();
    await search.close();
  });

  it("find a session that no sync has seen, and one that has moved; others cost nothing", async () => {
    const repository = repositoryOf();
    const failures: unknown[] = [];
    const waking = new WakingClock();
    const search = serviceOver(repository, { clock: waking, onFailure: (failure) => failures.push(failure) });
    await told(repository, "new", "word");
    search.notify("new");
    search.notify("unknown");
    await waking.wakeAll();
    expect(await search.searchSessions({ text: "word" })).toHaveLength(1);
    expect(failures).toEqual([]);
    await search.close();
  });

  it("tell of a failure, and leave the service as it is", async () => {
    const repository = repositoryOf();
    const metadata = await told(repository, "s", "word");
    const failures: unknown[] = [];
    const waking = new WakingClock();
    const search = serviceOver(repository, { clock: waking, onFailure: (failure) => failures.push(failure) });
    await search.sync();
    writeFileSync(metadata.path, `${readFileSync(metadata.path, "utf8")}{}\n`);
    search.notify("s");
    await waking.wakeAll();
    expect(failures).toEqual([{ sessionId: "s", error: expect.objectContaining({ code: "CORRUPTION" }) }]);
    expect(await search.searchSessions({ text: "word" })).toHaveLength(1);
    await search.close();
  });

  it("wait no longer than the service: closing ends them, and later ones are nothing", async () => {
    const repository = repositoryOf();
    await told(repository, "s", "word");
    const waking = new WakingClock();
    const failures: unknown[] = [];
    const search = serviceOver(repository, { clock: waking, onFailure: (failure) => failures.push(failure) });
    search.notify("s");
    await search.close();
    search.notify("s");
    expect([waking.sleeps.length, failures]).toEqual([1, []]);
    expect(contentsOf()).toMatchObject({ documents: [], cursors: [] });
  });
});

describe("a crash", () => {
  /** A driver that dies at one of its statements, before or after it has run. */
  function dyingDriver(
    call: number,
    when: "before" | "after",
  ): { connect: Connect; hasFired: () => boolean } {
    let calls = 0;
    let isDead = false;
    const connect: Connect = (filename, options) => {
      const database = new Database(filename, options);
      const prepare = database.prepare.bind(database);
      database.prepare = ((sql: string) => {
        const statement = prepare(sql);
        const run = statement.run.bind(statement);
        statement.run = (...parameters: unknown[]) => {
          if (isDead) throw new Error("the process is dead");
          calls += 1;
          if (calls !== call) return run(...parameters);
          isDead = true;
          if (when === "after") run(...parameters);
          throw new Error("the process dies");
        };
        return statement;
      }) as typeof database.prepare;
      return database;
    };
    return { connect, hasFired: () => isDead };
  }

  it.each(["before", "after"] as const)(
    "%s any statement of a sync costs nothing: the next one ends at the same index",
    async (when) => {
      const repository = repositoryOf();
      const metadata = await told(
        repository,
        "s",
        ...Array.from({ length: 8 }, (_, count) => `word ${count}`),
      );
      await told(repository, "t", "word");
      const rewritten = async () => {
        await repository.rewrite(metadata, {});
      };
      const path = (name: string) => join(scratch, name);
      const reference = serviceOver(repository, { path: path("reference.db"), batchEntries: 3 });
      await reference.sync();
      await reference.close();
      const before = contentsOf(path("reference.db"));
      for (let call = 1; ; call++) {
        const name = `index-${call}.db`;
        const driver = dyingDriver(call, when);
        try {
          const search = serviceOver(repository, {
            path: path(name),
            batchEntries: 3,
            connect: driver.connect,
          });
          await search.sync().catch(() => undefined);
          await search.close();
        } catch {
          // It died while the index was made.
        }
        const next = serviceOver(repository, { path: path(name), batchEntries: 3 });
        await next.sync();
        await next.close();
        expect(contentsOf(path(name))).toEqual(before);
        if (!driver.hasFired()) break;
        expect(call).toBeLessThan(500);
      }
      await rewritten();
      const after = serviceOver(repository, { path: path("reference.db"), batchEntries: 3 });
      await after.sync();
      await after.close();
      expect(contentsOf(path("reference.db"))).toMatchObject({ words: 9 });
    },
  );
});

describe("two services on one index", () => {
  it("end at the same index as one, however their pulls interleave", async () => {
    const repository = repositoryOf();
    for (const id of ["a", "b", "c"]) {
      await told(repository, id, ...Array.from({ length: 10 }, (_, count) => `word ${id} ${count}`));
    }
    const alone = serviceOver(repository, { path: join(scratch, "alone.db") });
    await alone.sync();
    await alone.close();
    const services = [1, 2, 3].map((batchEntries) => serviceOver(repository, { batchEntries }));
    await Promise.all([...services, ...services].map((service) => service.sync()));
    for (const service of services) await service.close();
    expect(contentsOf()).toEqual(contentsOf(join(scratch, "alone.db")));
  });

  it("take nothing that was read before the other started over, removed, or went on", () => {
    const path = join(scratch, "unit.db");
    const one = IndexDatabase.open(path);
    const other = IndexDatabase.open(path);
    const document = (entryId: string) => ({ entryId, timestamp: 1, text: `word ${entryId}` });
    const cursor = one.startOver("s", undefined, 0);
    if (cursor === undefined) throw new Error("there is a cursor");
    expect(other.startOver("s", undefined, 0)).toEqual(cursor);
    const moved = other.add("s", cursor, [document("e1")], { seq: 1, entryId: "e1" });
    expect(one.add("s", cursor, [document("e1"), document("e2")], { seq: 2, entryId: "e2" })).toBeUndefined();
    expect(one.cursorOf("s")).toEqual(moved);
    const again = other.startOver("s", moved, 1);
    expect(moved && one.add("s", moved, [document("stale")], { seq: 3, entryId: "stale" })).toBeUndefined();
    expect(one.startOver("s", moved, 0)).toEqual(again);
    expect(other.remove("s")).toBe(true);
    expect(again && one.add("s", again, [document("stale")], { seq: 3, entryId: "stale" })).toBeUndefined();
    expect([one.sessionIds(), one.remove("s")]).toEqual([[], false]);
    const fresh = one.startOver("s", undefined, 1);
    expect(fresh?.epoch).toBeGreaterThan(again?.epoch ?? 0);
    one.close();
    other.close();
    expect(contentsOf(path)).toMatchObject({ documents: [], words: 0 });
  });
});
