import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { clock, KINDS, repositoryOf, say, scratch, serviceOver, told } from "./test-support.ts";

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
