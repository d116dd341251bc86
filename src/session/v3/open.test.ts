import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { canonicalJson, idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import { addUsage, type Transaction, zeroUsage } from "../../model/index.ts";
import {
  JsonlStorage,
  leftoverOwner,
  MemoryFiles,
  readJsonlSession,
  STOP_FORMS,
  StoppingFiles,
  StorageFault,
} from "../../storage/index.ts";
import { openLegacyJsonl, readHeaderId } from "./open.ts";
import { readV3 } from "./read.ts";
import { fixture } from "./test-support.ts";

const NAMES = ["v3-application", "v3-library", "v3-damaged", "v2-hook-message", "v1-linear"];
const path = "old.jsonl";
const clock = () => new VirtualClock(1_780_000_000_000);

function filesWith(bytes: Uint8Array): MemoryFiles {
  const files = new MemoryFiles();
  files.put(path, bytes);
  return files;
}

const open = (fileSystem: MemoryFiles | StoppingFiles) =>
  openLegacyJsonl({ path, clock: clock(), fileSystem, idGenerator: idsOfIncarnation(1, 1, clock()) });
const durable = (files: MemoryFiles) => readJsonlSession(files.contentOf(path)).dump;

const usage = { ...zeroUsage(), input: 1, totalTokens: 1 };
/** A commit of every kind of write, under the entry that the session ends in. */
const commit = (parentId: string | null): Transaction => ({
  writes: [
    {
      kind: "entry",
      entry: { type: "message", id: "new", parentId, message: { role: "user", content: "on", timestamp: 1 } },
    },
    { kind: "usage", row: { id: "new-usage", usage, adjustment: false } },
    { kind: "register", op: "set", namespace: "lane.leaf", key: "main", value: "new" },
  ],
});

describe.each(NAMES)("%s, opened", (name) => {
  const bytes = fixture(name);
  const session = readV3(bytes);
  const leaf = session.dump.registers.find(({ namespace }) => namespace === "lane.leaf")?.value as
    | string
    | null;

  it("answers from the normalised session, and leaves the file alone byte for byte", async () => {
    const files = filesWith(bytes);
    const { storage } = open(files);
    expect(canonicalJson(storage.dump())).toBe(canonicalJson(session.dump));
    expect(storage.isUnconverted).toBe(true);
    expect(await storage.getStats()).toEqual(session.dump.stats);
    expect(await storage.scanUsage({})).toEqual([]);
    expect(await storage.scanEntries({})).toEqual(session.dump.entries);
    if (leaf !== null) expect(await storage.scanBranch({ start: leaf, limit: 1 })).toHaveLength(1);
    await storage.compact();
    expect(storage.bytes).toEqual({ total: bytes.length, dead: 0 });
    await storage.close();
    expect(files.contentOf(path).equals(bytes)).toBe(true);
    expect(files.paths()).toEqual([path]);
    expect(files.openCount).toBe(0);
  });

  it("is converted by its first commit: header, rows, one ledger row, and the commit as the last line", async () => {
    const files = filesWith(bytes);
    const { storage } = open(files);
    const nextSeq = session.dump.entries.length + session.dump.registers.length + 1;
    const result = await storage.commit(commit(leaf));
    expect(result).toMatchObject({ firstSeq: nextSeq + 1, seqs: [nextSeq + 1, nextSeq + 2, nextSeq + 3] });
    expect(storage.isUnconverted).toBe(false);

    const dump = durable(files);
    expect(canonicalJson(dump)).toBe(canonicalJson(storage.dump()));
    expect(dump.metadata).toEqual(session.dump.metadata);
    expect(dump.entries.slice(0, -1)).toEqual(session.dump.entries);
    expect(dump.usage).toEqual([
      {
        id: expect.any(String),
        seq: nextSeq,
        usage: session.dump.stats.usage,
        adjustment: true,
        details: { source: "v3-import" },
      },
      { id: "new-usage", seq: nextSeq + 2, usage, adjustment: false },
    ]);
    expect(dump.stats).toEqual({
      messageCount: session.dump.stats.messageCount + 1,
      usage: addUsage(session.dump.stats.usage, usage),
    });
    const lines = files.contentOf(path).toString().trimEnd().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ v: 4, kind: "header", storageVersion: 1 });
    expect(JSON.parse(lines.at(-1) ?? "").map(({ seq }: { seq: number }) => seq)).toEqual(result.seqs);
  });

  it("goes on after it as a session of format 4 like any other", async () => {
    const files = filesWith(bytes);
    const { storage } = open(files);
    await storage.commit(commit(leaf));
    const fact = (value: string): Transaction => ({
      writes: [{ kind: "register", op: "set", namespace: "fact.custom", key: "k", value }],
    });
    await storage.commit(fact("one"));
    expect(canonicalJson(durable(files))).toBe(canonicalJson(storage.dump()));
    const reopened = JsonlStorage.open({ path, clock: clock(), fileSystem: files });
    expect(reopened.bytes).toEqual(storage.bytes);
    await storage.close();
    await reopened.commit(fact("two"));
    const { bytesBefore, bytesAfter } = await reopened.compact();
    expect(bytesAfter).toBeLessThan(bytesBefore);
    expect(canonicalJson(durable(files))).toBe(canonicalJson(reopened.dump()));
    expect(canonicalJson(JsonlStorage.open({ path, clock: clock(), fileSystem: files }).dump())).toBe(
      canonicalJson(reopened.dump()),
    );
  });
});

describe("a conversion", () => {
  const bytes = fixture("v3-application");
  const { dump } = readV3(bytes);
  const leaf = dump.registers.find(({ namespace }) => namespace === "lane.leaf")?.value as string;

  it.each(STOP_FORMS)("leaves the old file or the new one at every call that $kind $when", async (form) => {
    const whole = filesWith(bytes);
    await open(whole).storage.commit(commit(leaf));
    const converted = whole.contentOf(path);
    let call = 0;
    let isDone = false;
    while (!isDone) {
      call += 1;
      const files = filesWith(bytes);
      const stopping = new StoppingFiles(files);
      const { storage } = open(stopping);
      stopping.arm({ call, ...form });
      const outcome = await storage.commit(commit(leaf)).catch((error: unknown) => error);
      isDone = !stopping.hasFired;
      stopping.arm();
      const found = files.contentOf(path);
      expect(found.equals(bytes) || found.equals(converted)).toBe(true);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(StorageFault);
      else expect(found.equals(converted)).toBe(true);
      // The old file is opened again, the new one is a session of format 4; a leftover disturbs neither.
      if (found.equals(bytes)) {
        const again = open(files).storage;
        await again.commit(commit(leaf));
        expect(files.contentOf(path).equals(converted)).toBe(true);
      } else JsonlStorage.open({ path, clock: clock(), fileSystem: files }).abandon();
      expect(files.paths().filter((each) => leftoverOwner(each) === undefined)).toEqual([path]);
    }
    expect(call).toBeGreaterThan(6);
  });

  it("that failed is tried again by the next commit of the same store", async () => {
    const files = filesWith(bytes);
    const stopping = new StoppingFiles(files);
    const { storage } = open(stopping);
    const write = stopping.write.bind(stopping);
    stopping.write = () => {
      throw new Error("ENOSPC");
    };
    await expect(storage.commit(commit(leaf))).rejects.toMatchObject({ recovered: true });
    expect(files.contentOf(path).equals(bytes)).toBe(true);
    expect(canonicalJson(storage.dump())).toBe(canonicalJson(dump));
    stopping.write = write;
    await storage.commit(commit(leaf));
    expect(durable(files).usage).toHaveLength(2);
  });

  it("is not made by a commit that is refused", async () => {
    const files = filesWith(bytes);
    const { storage } = open(files);
    await expect(storage.commit({ writes: [] })).rejects.toMatchObject({ reason: "empty" });
    const orphan = commit("nowhere");
    await expect(storage.commit(orphan)).rejects.toMatchObject({ reason: "missing_parent", writeIndex: 0 });
    const taken: Transaction = {
      writes: [{ kind: "usage", row: { id: leaf, usage, adjustment: false } }],
    };
    await expect(storage.commit(taken)).rejects.toMatchObject({ reason: "duplicate_id" });
    expect(storage.isUnconverted).toBe(true);
    expect(files.contentOf(path).equals(bytes)).toBe(true);
    await storage.close();
    await expect(storage.commit(commit(leaf))).rejects.toMatchObject({ code: "STORAGE_CLOSED" });
  });

  it("never replaces a file that was changed since it was read", async () => {
    const appended = Buffer.concat([
      bytes,
      Buffer.from('{"type":"session_info","id":"zz","parentId":null}\n'),
    ]);
    const edited = Buffer.from(bytes.toString().replace("count the apples", "count the onions"));
    for (const changed of [appended, edited]) {
      for (const isInPlace of [true, false]) {
        const files = filesWith(bytes);
        const { storage } = open(files);
        if (isInPlace) {
          const file = files.open(path, "readWrite");
          files.write(file, changed, 0, changed.length, 0);
        } else files.put(path, changed);
        await expect(storage.commit(commit(leaf))).rejects.toMatchObject({ recovered: false });
        expect(files.contentOf(path).equals(changed)).toBe(true);
        await expect(storage.commit(commit(leaf))).rejects.toThrow(StorageFault);
      }
    }
  });

  it("is made by one of two stores over the same file; the other is refused", async () => {
    const files = filesWith(bytes);
    const [one, other] = [open(files).storage, open(files).storage];
    await one.commit(commit(leaf));
    const converted = files.contentOf(path);
    await expect(other.commit(commit(leaf))).rejects.toMatchObject({ recovered: false });
    expect(files.contentOf(path).equals(converted)).toBe(true);
  });

  it("keeps times that fall, and takes no time behind the newest for what comes later", async () => {
    const files = filesWith(bytes);
    const early = new VirtualClock(0);
    const { storage } = openLegacyJsonl({
      path,
      clock: early,
      fileSystem: files,
      idGenerator: idsOfIncarnation(1, 1, early),
    });
    const { timestamp } = await storage.commit(commit(leaf));
    expect(timestamp).toBe(Math.max(...dump.entries.map((entry) => entry.timestamp)));
    const { entries } = durable(files);
    expect(entries.map((entry) => entry.timestamp)).toEqual([
      ...dump.entries.map((entry) => entry.timestamp),
      timestamp,
    ]);
    // An appended line whose time falls is still damage.
    const line = `${JSON.stringify({ ...entries[0], kind: "entry", id: "late", seq: 99 })}\n`;
    expect(() => readJsonlSession(Buffer.concat([files.contentOf(path), Buffer.from(line)]))).toThrow(
      /timestamp_falls/,
    );
  });

  it("works on the host's files, where opening to read needs no right to write", async () => {
    const folder = mkdtempSync(join(tmpdir(), "legacy-"));
    try {
      const file = join(folder, "old.jsonl");
      const parent = join(folder, "parent.jsonl");
      writeFileSync(parent, '\n{"type":"session","version":3,"id":"the-parent"}\n');
      const child = Buffer.from(bytes.toString().replace("/home/ada/.sessions/parent.jsonl", parent));
      writeFileSync(file, child, { mode: 0o400 });
      const idGenerator = idsOfIncarnation(1, 1, clock());
      const { storage } = openLegacyJsonl({ path: file, clock: clock(), idGenerator });
      expect(storage.metadata).toMatchObject({ parentSessionId: "the-parent" });
      expect(readFileSync(file).equals(child)).toBe(true);
      await storage.commit(commit(leaf));
      await storage.close();
      expect(readJsonlSession(file).metadata.parentSessionId).toBe("the-parent");
      expect(readdirSync(folder).sort()).toEqual(["old.jsonl", "parent.jsonl"]);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("opening", () => {
  it("of what is no legacy session is refused, and holds no file open", () => {
    for (const content of [
      "",
      "hello\n",
      '{"v":4,"kind":"header","id":"s"}\n',
      '{"type":"session","version":9,"id":"s"}\n',
    ]) {
      const files = filesWith(Buffer.from(content));
      expect(() => open(files)).toThrow(/nothing was changed/);
      expect(files.contentOf(path).toString()).toBe(content);
      expect(files.openCount).toBe(0);
    }
  });
});

describe("the id in a header", () => {
  it("is read of legacy files and of format 4, and of nothing else", () => {
    const files = new MemoryFiles();
    files.put("v3", fixture("v3-damaged"));
    files.put("v4", fixture("version-0-open"));
    files.put("text", "hello");
    expect(readHeaderId("v3", files)).toBe("dam-1");
    expect(readHeaderId("v4", files)).toBe("version-0-open");
    expect(readHeaderId("text", files)).toBeUndefined();
    expect(readHeaderId("gone", files)).toBeUndefined();
    const folder = mkdtempSync(join(tmpdir(), "legacy-"));
    mkdirSync(join(folder, "folder.jsonl"));
    expect(readHeaderId(join(folder, "folder.jsonl"))).toBeUndefined();
    rmSync(folder, { recursive: true });
  });
});
