/** What a store leaves in its file: lines that are whole, a torn tail until it commits, nothing when it lets go. */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Corruption } from "../../foundation/index.ts";
import { StorageClosed } from "../contract.ts";
import { SessionExists } from "../creation.ts";
import { MemoryFiles } from "../files/memory-files.ts";
import { readJsonlSession } from "./read.ts";
import { JsonlStorage } from "./storage.ts";
import {
  clock,
  created,
  METADATA,
  messageOf,
  open,
  PATH,
  PlannedFailures,
  refusalOf,
  settlementOf,
} from "./test-support.ts";

const folder = mkdtempSync(join(tmpdir(), "crashproof-jsonl-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a session file on the host", () => {
  it("is created whole and private, and grows by one line a commit", async () => {
    const path = join(folder, "grows.jsonl");
    const store = JsonlStorage.create({ path, metadata: METADATA, clock: clock() });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const start = readFileSync(path, "utf8");
    expect(start).toBe(
      '{"v":4,"kind":"header","id":"s_1","createdAt":1000,"storageVersion":1}\n' +
        '[{"kind":"register","op":"set","seq":1,"namespace":"lane.leaf","key":"main","value":null},' +
        '{"kind":"register","op":"set","seq":2,"namespace":"lane.state","key":"main",' +
        '"value":{"currentOperationId":null,"pendingNextRun":[]}}]\n',
    );
    await store.commit(messageOf("e_1", null));
    await store.commit(settlementOf("e_2", "e_1", "é\u2028"));
    expect(readFileSync(path, "utf8").slice(start.length).split("\n")).toHaveLength(3);
    const dump = store.dump();
    await store.close();
    expect(readJsonlSession(path).dump).toEqual(dump);
    const reopened = JsonlStorage.open({ path, clock: clock() });
    expect(reopened.dump()).toEqual(dump);
    await reopened.close();
  });

  it("is refused for creation where one exists, and for opening where none does", () => {
    const path = join(folder, "once.jsonl");
    JsonlStorage.create({ path, metadata: METADATA, clock: clock() }).abandon();
    const before = readFileSync(path);
    expect(() => JsonlStorage.create({ path, metadata: METADATA, clock: clock() })).toThrow(SessionExists);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(() => JsonlStorage.open({ path: join(folder, "none.jsonl"), clock: clock() })).toThrow("ENOENT");
  });

  it("takes lines that are larger than any buffer kept for them", async () => {
    const path = join(folder, "large.jsonl");
    const store = JsonlStorage.create({ path, metadata: METADATA, clock: clock() });
    await store.commit(messageOf("e_1", null, "\u{1f600}".repeat(100_000)));
    await store.commit(messageOf("e_2", "e_1", "small again"));
    expect(readJsonlSession(path).dump).toEqual(store.dump());
    await store.close();
  });
});

describe("a torn tail", () => {
  const torn = async () => {
    const files = created();
    const store = open(files);
    await store.commit(messageOf("e_1", null));
    const whole = files.contentOf(PATH);
    await store.commit(settlementOf("e_2", "e_1", "é"));
    await store.close();
    return { whole, full: files.contentOf(PATH) };
  };

  it("stays in the file until the first commit, which leaves only whole lines, at every byte", async () => {
    const { whole, full } = await torn();
    const clean = new MemoryFiles();
    clean.put(PATH, whole);
    await open(clean).commit(messageOf("e_3", "e_1"));
    for (let size = whole.length + 1; size < full.length; size++) {
      const files = new MemoryFiles();
      files.put(PATH, full.subarray(0, size));
      const store = open(files);
      expect(store.tornTail).toEqual({ byteOffset: whole.length, byteLength: size - whole.length });
      expect(files.contentOf(PATH).length).toBe(size);
      await store.commit(messageOf("e_3", "e_1"));
      expect(store.tornTail).toBeUndefined();
      expect(files.contentOf(PATH).equals(clean.contentOf(PATH))).toBe(true);
    }
  });

  it("stays in the file when nothing is committed, or only what is refused", async () => {
    const { full } = await torn();
    const files = new MemoryFiles();
    files.put(PATH, full.subarray(0, -4));
    const store = open(files);
    await refusalOf(store.commit({ writes: [] }));
    await store.close();
    expect(files.contentOf(PATH).equals(full.subarray(0, -4))).toBe(true);
  });
});

describe("a damaged file", () => {
  it("is left as it is, with no handle left open", () => {
    const files = new MemoryFiles();
    const damaged = Buffer.from(`${created().contentOf(PATH).toString()}[]\n{"half`);
    files.put(PATH, damaged);
    expect(() => open(files)).toThrow(Corruption);
    expect(() => readJsonlSession(PATH, files)).toThrow(Corruption);
    expect(files.contentOf(PATH).equals(damaged)).toBe(true);
    expect(files.openCount).toBe(0);
  });
});

describe("letting go", () => {
  it("closes the file once, and refuses every later call", async () => {
    const files = created();
    const store = open(files);
    const admitted = store.commit(messageOf("e_1", null));
    const closings = [store.close(), store.close()];
    await Promise.all([admitted, ...closings]);
    expect(files.openCount).toBe(0);
    for (const call of [
      () => store.commit(messageOf("e_2", null)),
      () => store.commit({ writes: [] }),
      () => store.getEntries([]),
      () => store.getRegister("lane.leaf", "main"),
      () => store.listRegisters("lane.leaf"),
      () => store.scanBranch({ start: "e_1" }),
      () => store.scanBranchStructure({ start: "e_1" }),
      () => store.scanEntries({}),
      () => store.scanUsage({}),
      () => store.getStats(),
    ]) {
      expect(await refusalOf(call())).toBeInstanceOf(StorageClosed);
    }
    expect(() => store.dump()).toThrow(StorageClosed);
    await store.close();
    expect((await open(files).getEntries(["e_1"])).size).toBe(1);
  });

  it("dies without a write when it is abandoned, and lets a successor go on", async () => {
    const files = created();
    const dead = open(files);
    await dead.commit(messageOf("e_1", null));
    const content = files.contentOf(PATH);
    dead.abandon();
    expect(await refusalOf(dead.commit(messageOf("e_2", null)))).toBeInstanceOf(StorageClosed);
    expect(files.contentOf(PATH).equals(content)).toBe(true);
    expect(files.openCount).toBe(0);
    await open(files).commit(messageOf("e_2", "e_1"));
  });

  it("reports a close that failed, to every caller", async () => {
    const failing = new PlannedFailures(created(), { mode: "after", watched: ["close"], fails: () => true });
    const store = open(failing);
    expect(await refusalOf(store.close())).toMatchObject({ message: "close failed on purpose" });
    expect(await refusalOf(store.close())).toMatchObject({ message: "close failed on purpose" });
  });
});
