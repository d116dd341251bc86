import { mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, VirtualClock } from "../../foundation/index.ts";
import { type Transaction, type Write, zeroUsage } from "../../model/index.ts";
import { StorageFault } from "../contract.ts";
import { MemoryFiles } from "../files/memory-files.ts";
import { leftoverOwner, leftoversOf } from "../files/replacement.ts";
import { STOP_FORMS, StoppingFiles } from "../files/stopping-files.ts";
import { MemoryDisk } from "../memory/disk.ts";
import { MemoryStorage } from "../memory/storage.ts";
import { DEFAULT_COMPACTION_THRESHOLD } from "./compaction.ts";
import { readJsonlSession } from "./read.ts";
import { JsonlStorage } from "./storage.ts";

const path = "sessions/s_1.jsonl";
const metadata = { id: "s_1", createdAt: 1_000, storageVersion: 1 };
const clock = () => new VirtualClock(2_000);

const entry = (id: string, parentId: string | null, text = id): Write => ({
  kind: "entry",
  entry: { type: "custom", id, parentId, customType: "note", data: { text } },
});
const usage = (id: string): Write => ({
  kind: "usage",
  row: { id, adjustment: false, usage: { ...zeroUsage(), input: 3, totalTokens: 3 } },
});
const fact = (key: string, value: string | null): Write => ({
  kind: "register",
  op: "set",
  namespace: "fact.custom",
  key,
  value,
});
const noFact = (key: string): Write => ({ kind: "register", op: "delete", namespace: "fact.custom", key });

/** A run of a few commits whose registers die, the last write a delete. */
const HISTORY: readonly Write[][] = [
  [entry("a", null), fact("state", "one")],
  [fact("state", "two")],
  [
    entry("b", "a", "caf\u00e9 \u2028 \ud83d\ude00"),
    usage("u"),
    fact("state", "three"),
    fact("kept", "\u00fc"),
  ],
  [entry("c", "b"), noFact("absent"), fact("state", "four")],
  [noFact("state")],
];

async function sessionOf(history: readonly Write[][], files = new MemoryFiles()): Promise<MemoryFiles> {
  const storage = JsonlStorage.create({ path, clock: clock(), metadata, fileSystem: files });
  for (const writes of history) await storage.commit({ writes });
  storage.abandon();
  return files;
}

const open = (fileSystem: MemoryFiles | StoppingFiles) =>
  JsonlStorage.open({ path, clock: clock(), fileSystem });
const durable = (files: MemoryFiles) => canonicalJson(readJsonlSession(files.contentOf(path)).dump);
const text = (files: MemoryFiles) => files.contentOf(path).toString("utf8");

describe("a compaction", () => {
  it("leaves header, entries, usage and registers, one a line, with the seqs that they had", async () => {
    const files = await sessionOf(HISTORY);
    const storage = open(files);
    const before = canonicalJson(storage.dump());
    const report = await storage.compact();

    const lines = text(files).trimEnd().split("\n");
    const kinds = lines.map((line) => {
      const { kind, op, seq } = JSON.parse(line) as Record<string, unknown>;
      return [kind, op, seq].filter((part) => part !== undefined).join(" ");
    });
    expect(kinds).toEqual([
      "header",
      "register set 1",
      "register set 2",
      "entry 3",
      "entry 6",
      "usage 7",
      "register set 9",
      "entry 10",
      "register delete 13",
    ]);
    expect(canonicalJson(storage.dump())).toBe(before);
    expect(durable(files)).toBe(before);
    expect(report.bytesBefore).toBeGreaterThan(report.bytesAfter);
    expect(report).toMatchObject({ bytesAfter: files.contentOf(path).length, isFolderSynced: true });
    expect(files.paths()).toEqual([path]);
    expect(files.openCount).toBe(1);
  });

  it("gives no seq out again, though the newest write was a delete", async () => {
    const files = await sessionOf(HISTORY);
    await open(files).compact();
    const { firstSeq } = await open(files).commit({ writes: [fact("next", "x")] });
    expect(firstSeq).toBe(14);
  });

  it("lets the store that made it go on, and drops a torn tail", async () => {
    const files = await sessionOf(HISTORY);
    files.put(path, Buffer.concat([files.contentOf(path), Buffer.from('{"kind":"ent')]));
    const storage = open(files);
    await storage.compact();
    expect(storage.tornTail).toBeUndefined();
    await storage.commit({ writes: [entry("d", "c")] });
    expect(durable(files)).toBe(canonicalJson(storage.dump()));
  });

  it("of a compacted file changes no byte", async () => {
    const files = await sessionOf(HISTORY);
    const storage = open(files);
    await storage.compact();
    const once = text(files);
    expect(storage.bytes).toEqual({ total: Buffer.byteLength(once), dead: 0 });
    await storage.compact();
    expect(text(files)).toBe(once);
  });

  it("replaces what a link leads to, and not the link", async () => {
    const folder = mkdtempSync(join(tmpdir(), "compaction-"));
    try {
      const real = join(folder, "real.jsonl");
      const link = join(folder, "link.jsonl");
      const storage = JsonlStorage.create({ path: real, clock: clock(), metadata });
      for (const writes of HISTORY) await storage.commit({ writes });
      await storage.close();
      symlinkSync(real, link);
      const linked = JsonlStorage.open({ path: link, clock: clock() });
      await linked.compact();
      await linked.commit({ writes: [entry("d", "c")] });
      await linked.close();
      expect(readlinkSync(link)).toBe(real);
      expect(canonicalJson(readJsonlSession(real).dump)).toBe(canonicalJson(readJsonlSession(link).dump));
      expect(readFileSync(real, "utf8")).toContain('"id":"d"');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the byte account", () => {
  const key = fc.constantFrom("a", "b", "c");
  const value = fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.constant(null));
  const step = fc.oneof(
    fc.tuple(key, value).map(([name, held]) => ({ kind: "set" as const, name, held })),
    key.map((name) => ({ kind: "delete" as const, name })),
    value.map((held) => ({ kind: "entry" as const, held })),
    fc.constant({ kind: "usage" as const }),
  );
  type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;
  const writeOf = (each: Step, id: string): Write => {
    switch (each.kind) {
      case "set":
        return fact(each.name, each.held);
      case "delete":
        return noFact(each.name);
      case "entry":
        return entry(id, null, each.held ?? "");
      case "usage":
        return usage(id);
    }
  };
  const transactions = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { maxLength: 12 });

  it("says what a compaction drops to the byte, live and after opening, after any history", async () => {
    await fc.assert(
      fc.asyncProperty(transactions, async (history) => {
        let ids = 0;
        const writes = history.map((steps) => steps.map((each) => writeOf(each, `id_${ids++}`)));
        const files = new MemoryFiles();
        const memory = new MemoryStorage({ disk: MemoryDisk.create(metadata), clock: clock() });
        const live = JsonlStorage.create({ path, clock: clock(), metadata, fileSystem: files });
        for (const each of writes) {
          await live.commit({ writes: each });
          await memory.commit({ writes: each });
        }
        const opened = open(files);
        expect(opened.bytes).toEqual(live.bytes);
        const { bytesBefore, bytesAfter } = await opened.compact();
        expect(bytesAfter).toBe(files.contentOf(path).length);
        expect(live.bytes).toEqual({ total: bytesBefore, dead: bytesBefore - bytesAfter });
        expect(opened.bytes).toEqual({ total: bytesAfter, dead: 0 });
        expect(open(files).bytes).toEqual(opened.bytes);
        // A memory store never compacts: the same session, and the same next seq.
        const next: Transaction = { writes: [fact("next", "x")] };
        expect(await open(files).commit(next)).toEqual(await memory.commit(next));
        expect(durable(files)).toBe(canonicalJson(memory.dump()));
      }),
      { numRuns: 120 },
    );
  });
});

describe("a compaction that goes wrong", () => {
  it.each(STOP_FORMS)("leaves the whole session at every call that $kind $when", async ({ kind, when }) => {
    let call = 0;
    let isDone = false;
    while (!isDone) {
      call += 1;
      const files = await sessionOf(HISTORY);
      const before = durable(files);
      const stopping = new StoppingFiles(files);
      const storage = open(stopping);
      stopping.arm({ call, kind, when });
      const outcome = await storage.compact().catch((error: unknown) => error);
      isDone = !stopping.hasFired;
      const failedCall = stopping.calls.at(call - 1);
      stopping.arm();
      // What was there is there, under the old bytes or the new.
      expect(durable(files)).toBe(before);
      expect(canonicalJson(storage.dump())).toBe(before);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(StorageFault);
      else expect(outcome).toMatchObject({ bytesAfter: files.contentOf(path).length });
      // A living store goes on, whatever failed: on the new file, on the old one, or not at all if it cannot tell.
      if (kind === "fails") {
        const after = await storage.commit({ writes: [entry("d", "c")] }).catch((error: unknown) => error);
        const isReplaced = when === "after" && failedCall === "rename";
        if (isReplaced) expect(after).toMatchObject({ name: "StorageFault" });
        else expect(after).toMatchObject({ firstSeq: 14 });
        expect(durable(files)).toBe(isReplaced ? before : canonicalJson(storage.dump()));
      }
      // The next process opens the session and compacts it, with a leftover beside it or without.
      const next = open(files);
      await next.compact();
      expect(leftoversOf(path, files).length).toBeLessThanOrEqual(1);
      expect(files.paths().filter((name) => leftoverOwner(name) === undefined)).toEqual([path]);
    }
    expect(call).toBeGreaterThan(8);
  });

  it("leaves the whole old session when killed after the first byte of the new one, every eighth, and the last", async () => {
    const files = await sessionOf(HISTORY);
    const before = text(files);
    const dry = new StoppingFiles(files.fork());
    const dryStorage = open(dry);
    dry.arm();
    const { bytesAfter } = await dryStorage.compact();
    const call = dry.calls.indexOf("write") + 1;
    const cuts = Array.from({ length: Math.ceil(bytesAfter / 8) }, (_, index) => index * 8);
    for (const bytesWritten of [...cuts, 1, bytesAfter - 1, bytesAfter]) {
      const disk = files.fork();
      const dying = new StoppingFiles(disk);
      const storage = open(dying);
      dying.arm({ call, kind: "dies", when: "inside", bytesWritten });
      await expect(storage.compact()).rejects.toThrow(StorageFault);
      expect(text(disk)).toBe(before);
      expect(leftoversOf(path, disk)).toEqual([`${path}.new-1`]);
      expect(disk.contentOf(`${path}.new-1`).length).toBe(bytesWritten);
    }
  });

  it("has the new content on the device before the name, and the old content until then", async () => {
    const files = new StoppingFiles(await sessionOf(HISTORY));
    const storage = open(files);
    files.arm();
    await storage.compact();
    const steps = files.calls.filter((name) => ["write", "sync", "rename", "syncFolder"].includes(name));
    expect(steps).toEqual(["write", "sync", "rename", "syncFolder"]);
  });
});

describe("a file that another process changed", () => {
  const changes: [string, (files: MemoryFiles) => void][] = [
    ["by a line more", (files) => files.put(`${path}.x`, `${text(files)}{}\n`)],
    ["in one byte", (files) => files.put(`${path}.x`, text(files).replace('"text":"a"', '"text":"z"'))],
  ];

  it.each(changes)(
    "%s is not replaced, whether renamed into place or written in place",
    async (_name, change) => {
      for (const isInPlace of [false, true]) {
        const files = await sessionOf(HISTORY);
        const storage = open(files);
        change(files);
        const changed = files.contentOf(`${path}.x`);
        if (isInPlace) {
          const file = files.open(path, "readWrite");
          files.write(file, changed, 0, changed.length, 0);
          files.unlink(`${path}.x`);
        } else files.rename(`${path}.x`, path);
        await expect(storage.compact()).rejects.toMatchObject({ name: "StorageFault", recovered: false });
        expect(files.contentOf(path)).toEqual(changed);
        expect(files.paths()).toEqual([path]);
        await expect(storage.commit({ writes: [entry("d", "c")] })).rejects.toThrow(StorageFault);
        expect(files.contentOf(path)).toEqual(changed);
      }
    },
  );

  it("by a compaction of its own is not replaced", async () => {
    const files = await sessionOf(HISTORY);
    const [one, other] = [open(files), open(files)];
    await one.compact();
    await one.commit({ writes: [entry("d", "c")] });
    const kept = text(files);
    await expect(other.compact()).rejects.toMatchObject({ recovered: false });
    expect(text(files)).toBe(kept);
  });

  it("by deleting it does not come back", async () => {
    const files = await sessionOf(HISTORY);
    const storage = open(files);
    files.unlink(path);
    await expect(storage.compact()).rejects.toMatchObject({ recovered: false });
    expect(files.paths()).toEqual([]);
  });

  it("between the writing and the rename is not replaced", async () => {
    const files = await sessionOf(HISTORY);
    const meddling = new StoppingFiles(files);
    const storage = open(meddling);
    const sync = meddling.sync.bind(meddling);
    meddling.sync = (file) => {
      sync(file);
      files.put(path, text(files).replace('"text":"b"', '"text":"y"').replace("state", "stati"));
    };
    await expect(storage.compact()).rejects.toMatchObject({ recovered: false });
    expect(text(files)).toContain("stati");
    expect(files.paths()).toEqual([path]);
  });
});

describe("compaction at opening", () => {
  const always = { deadRatioMin: 0, fileBytesMin: 0 };

  it("is done from the threshold on, and not below it", async () => {
    const files = await sessionOf(HISTORY);
    const { total, dead } = open(files).bytes;
    const before = durable(files);
    for (const [deadRatioMin, fileBytesMin, isDone] of [
      [dead / total + 0.01, 0, false],
      [0, total + 1, false],
      [dead / total, total, true],
    ] as const) {
      const fork = files.fork();
      const options = { path, clock: clock(), fileSystem: fork };
      JsonlStorage.open({ ...options, compactAtOpen: { deadRatioMin, fileBytesMin } }).abandon();
      expect(fork.contentOf(path).length).toBe(isDone ? total - dead : total);
      expect(durable(fork)).toBe(before);
    }
    expect(DEFAULT_COMPACTION_THRESHOLD.deadRatioMin).toBeLessThan(1);
  });

  it("does not withhold a sound session when the disk is full, and says why it was not done", async () => {
    const files = await sessionOf(HISTORY);
    const full = new StoppingFiles(files);
    const write = full.write.bind(full);
    full.write = () => {
      throw new Error("ENOSPC");
    };
    const storage = JsonlStorage.open({ path, clock: clock(), fileSystem: full, compactAtOpen: always });
    expect(storage.compactionFailure).toMatchObject({ recovered: true });
    full.write = write;
    await storage.commit({ writes: [entry("d", "c")] });
    expect(durable(files)).toBe(canonicalJson(storage.dump()));
  });
});

describe("leftovers", () => {
  it("are never opened, overwritten or reused, and are listed in order", async () => {
    const files = await sessionOf(HISTORY);
    for (const number of [10, 2, 1]) files.put(`${path}.new-${number}`, `leftover ${number}`);
    files.put("sessions/s_10.jsonl.new-1", "of another session");
    files.put("sessions/s_1.jsonl.new-x", "no leftover");
    await open(files).compact();
    expect(leftoversOf(path, files)).toEqual([1, 2, 10].map((number) => `${path}.new-${number}`));
    expect(files.contentOf(`${path}.new-2`).toString()).toBe("leftover 2");
    expect(files.paths()).not.toContain(`${path}.new-3`);
  });

  it("are told from sessions by their name", () => {
    expect(leftoverOwner("s_1.jsonl.new-12")).toBe("s_1.jsonl");
    for (const name of ["s_1.jsonl", "s_1.jsonl.new-", ".new-1", "s_1.new-1.jsonl"]) {
      expect(leftoverOwner(name)).toBeUndefined();
    }
  });
});
