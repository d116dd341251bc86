import { describe, expect, it } from "vitest";
import { NotJson, VirtualClock } from "../../foundation/index.ts";
import type { Transaction } from "../../model/index.ts";
import { InvalidTransaction, type SessionMetadata, StorageClosed } from "../contract.ts";
import { MemoryDisk } from "./disk.ts";
import { MemoryStorage } from "./storage.ts";

const metadata: SessionMetadata = { id: "s_1", createdAt: 1_000, storageVersion: 1 };
const fact = (key: string, value: unknown): Transaction =>
  ({ writes: [{ kind: "register", op: "set", namespace: "fact.custom", key, value }] }) as Transaction;
const note = (id: string, parentId: string | null = null, data: unknown = {}): Transaction =>
  ({
    writes: [{ kind: "entry", entry: { type: "custom", id, parentId, customType: "note", data } }],
  }) as Transaction;

function storeOn(disk: MemoryDisk, nowMs = 2_000): { store: MemoryStorage; clock: VirtualClock } {
  const clock = new VirtualClock(nowMs);
  return { store: new MemoryStorage({ disk, clock }), clock };
}

describe("the Memory store", () => {
  it("numbers writes from where the session stands, deletes of absent keys included", async () => {
    const { store } = storeOn(MemoryDisk.create(metadata));
    const removal: Transaction = {
      writes: [
        { kind: "register", op: "delete", namespace: "fact.name", key: "" },
        { kind: "register", op: "delete", namespace: "fact.name", key: "" },
      ],
    };
    expect(await store.commit(fact("a", 1))).toEqual({ firstSeq: 3, seqs: [3], timestamp: 2_000 });
    expect(await store.commit(removal)).toEqual({ firstSeq: 4, seqs: [4, 5], timestamp: 2_000 });
    expect(await store.commit(fact("a", null))).toMatchObject({ firstSeq: 6 });
    expect(await store.getRegister("fact.custom", "a")).toEqual({
      namespace: "fact.custom",
      key: "a",
      value: null,
      seq: 6,
    });
  });

  it("never lets time fall behind: not behind a commit, not behind the newest entry, not behind the creation", async () => {
    const disk = MemoryDisk.create(metadata);
    const { store, clock } = storeOn(disk);
    await store.commit(fact("a", 1));
    clock.step(-500);
    expect(await store.commit(note("e_1"))).toMatchObject({ timestamp: 2_000 });
    await store.close();
    expect(await storeOn(disk, 1_500).store.commit(fact("b", 1))).toMatchObject({ timestamp: 2_000 });
    expect(await storeOn(MemoryDisk.create(metadata), 1).store.commit(note("e_1"))).toMatchObject({
      timestamp: 1_000,
    });
  });

  it("leaves nothing of a refused transaction, and goes on with those behind it", async () => {
    const disk = MemoryDisk.create(metadata);
    const { store } = storeOn(disk);
    const before = disk.dump();
    const half = { writes: [...fact("a", 1).writes, ...note("e_1").writes, ...note("e_1").writes] };
    const bad = [half, { writes: [] }, fact("a", Number.NaN), note("e_1", "e_0"), { writes: [{}] } as never];
    const refusals = await Promise.allSettled([
      ...bad.map((each) => store.commit(each)),
      store.commit(fact("b", 1)),
    ]);
    expect(
      refusals.map((each) => (each.status === "rejected" ? each.reason.constructor : each.value.firstSeq)),
    ).toEqual([InvalidTransaction, InvalidTransaction, NotJson, InvalidTransaction, InvalidTransaction, 3]);
    expect(disk.dump().entries).toEqual(before.entries);
    expect(disk.dump().registers.filter((each) => each.namespace === "fact.custom")).toHaveLength(1);
  });

  it("shares nothing mutable: neither what came in, nor what went out", async () => {
    const { store } = storeOn(MemoryDisk.create(metadata));
    const data = { list: [1] };
    await store.commit(note("e_1", null, data));
    data.list.push(2);
    const entry = (await store.getEntries(["e_1"])).get("e_1") as unknown as { data: typeof data };
    expect(entry.data).toEqual({ list: [1] });
    expect(() => entry.data.list.push(3)).toThrow(TypeError);
    const rows = await store.scanEntries({});
    rows.pop();
    expect(await store.scanEntries({})).toHaveLength(1);
    expect((await store.scanEntries({}))[0]).toBe(entry);
  });

  it("refuses every call once it is closed or abandoned; its disk lives on", async () => {
    for (const end of ["close", "abandon"] as const) {
      const disk = MemoryDisk.create(metadata);
      const { store } = storeOn(disk);
      await store.commit(note("e_1"));
      await store[end]();
      await expect(store.commit(note("e_2"))).rejects.toBeInstanceOf(StorageClosed);
      await expect(store.getStats()).rejects.toBeInstanceOf(StorageClosed);
      expect((await storeOn(disk).store.getEntries(["e_1", "e_2"])).size).toBe(1);
    }
  });
});

describe("a memory disk", () => {
  it("forks to a disk that goes its own way and shares the frozen rows", async () => {
    const disk = MemoryDisk.create(metadata);
    await storeOn(disk).store.commit(note("e_1"));
    const fork = disk.fork();
    const before = fork.dump();
    expect(before).toEqual(disk.dump());
    expect(before.entries[0]).toBe(disk.dump().entries[0]);
    await storeOn(disk).store.commit(note("e_2", "e_1"));
    await storeOn(disk).store.commit(fact("a", 1));
    expect(fork.dump()).toEqual(before);
    await storeOn(fork).store.commit(note("e_2"));
    expect(disk.dump().entries.map((each) => each.parentId)).toEqual([null, "e_1"]);
  });

  it("refuses metadata that a session cannot have", () => {
    expect(() => MemoryDisk.create({ ...metadata, id: "" })).toThrow(TypeError);
    expect(() => MemoryDisk.create({ ...metadata, cwd: undefined } as never)).toThrow(NotJson);
  });
});
