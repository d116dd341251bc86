import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Corruption, canonicalJson, VirtualClock } from "../../foundation/index.ts";
import type { Transaction } from "../../model/index.ts";
import { StorageClosed, StorageFault } from "../contract.ts";
import { SessionExists } from "../creation.ts";
import type { FileSystem } from "../files/file-system.ts";
import { MemoryFiles } from "../files/memory-files.ts";
import { leftoverOwner } from "../files/replacement.ts";
import { readJsonlSession } from "./read.ts";
import { JsonlStorage } from "./storage.ts";
import {
  type FailureMode,
  factOf,
  METADATA,
  messageOf,
  PATH,
  PlannedFailures,
  settlementOf,
} from "./test-support.ts";

const clock = () => new VirtualClock(2_000);
const dumpText = (files: MemoryFiles) => canonicalJson(readJsonlSession(files.contentOf(PATH)).dump);
const open = (fileSystem: FileSystem) => JsonlStorage.open({ path: PATH, clock: clock(), fileSystem });

function created(): MemoryFiles {
  const files = new MemoryFiles();
  JsonlStorage.create({ path: PATH, metadata: METADATA, clock: clock(), fileSystem: files }).abandon();
  return files;
}

async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error) => error,
  );
}

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

describe("a commit on a failing file", () => {
  const transactions: Transaction[] = [
    settlementOf("e_1", null, "one"),
    factOf("two", "2"),
    settlementOf("e_3", null, "three"),
    factOf("four", "4"),
  ];

  /** Runs the transactions with failures, then holds the file against the commits that were acknowledged. */
  async function runWith(
    mode: FailureMode,
    fails: (call: number) => boolean,
    withTail: boolean,
  ): Promise<{ fired: number; isFaulted: boolean }> {
    const files = created();
    if (withTail) files.put(PATH, Buffer.concat([files.contentOf(PATH), Buffer.from('{"kind":"ent')]));
    const expected = created();
    const reference = open(expected);
    // Only the calls that commits make are counted, and not those of opening.
    const watched = ["fstat", "truncate", "write"] as const;
    let isArmed = false;
    let seen = 0;
    const failing = new PlannedFailures(files, {
      mode,
      watched,
      fails: () => {
        if (!isArmed) return false;
        seen += 1;
        return fails(seen);
      },
    });
    const store = open(failing);
    isArmed = true;
    let isFaulted = false;
    let inDoubt: string | undefined;
    for (const transaction of transactions) {
      const refusal = await refusalOf(store.commit(transaction));
      if (refusal === undefined) {
        expect(isFaulted).toBe(false);
        await reference.commit(transaction);
        continue;
      }
      expect(refusal).toBeInstanceOf(StorageFault);
      if (!isFaulted && !(refusal as StorageFault).recovered) {
        isFaulted = true;
        const branch = expected.fork();
        await open(branch)
          .commit(transaction)
          .catch(() => undefined);
        inDoubt = dumpText(branch);
      }
      expect((refusal as StorageFault).recovered).toBe(!isFaulted);
    }
    expect(canonicalJson(store.dump())).toBe(dumpText(expected));
    await store.close();
    const found = dumpText(files);
    if (found !== inDoubt) expect(found).toBe(dumpText(expected));
    if (!isFaulted) expect(files.contentOf(PATH).equals(expected.contentOf(PATH))).toBe(true);
    return { fired: failing.fired, isFaulted };
  }

  it.each<[FailureMode, boolean]>([
    ["before", false],
    ["after", false],
    ["torn", false],
    ["short", false],
    ["before", true],
    ["after", true],
    ["torn", true],
    ["short", true],
  ])(
    "is refused whole, whichever single call fails, and the store goes on (%s, torn tail before: %s)",
    async (mode, withTail) => {
      let callCount = 0;
      for (let call = 1; ; call++) {
        const { fired, isFaulted } = await runWith(mode, (each) => each === call, withTail);
        expect(isFaulted).toBe(false);
        if (fired === 0) break;
        callCount = call;
      }
      expect(callCount).toBeGreaterThanOrEqual(2 * transactions.length);
    },
  );

  it.each<[FailureMode]>([["before"], ["after"], ["torn"], ["short"]])(
    "takes the store out of service when cutting off fails too (%s)",
    async (mode) => {
      const outcomes = new Set<boolean>();
      for (let call = 1; ; call++) {
        const { fired, isFaulted } = await runWith(mode, (each) => each >= call, false);
        if (fired === 0) break;
        outcomes.add(isFaulted);
      }
      // Where the size could not be read first, nothing was written that would have to be cut off.
      expect(outcomes).toContain(true);
    },
  );

  it("leaves a fragment for the next opening to drop, and fuses nothing to it", async () => {
    const files = created();
    const failing = new PlannedFailures(files, {
      mode: "torn",
      watched: ["write", "truncate"],
      fails: () => true,
    });
    const store = open(failing);
    const before = dumpText(files);
    const first = await refusalOf(store.commit(messageOf("e_1", null)));
    expect(first).toMatchObject({ name: "StorageFault", recovered: false });
    const size = files.contentOf(PATH).length;
    const second = await refusalOf(store.commit(messageOf("e_2", null)));
    expect(second).toMatchObject({ name: "StorageFault", recovered: false, cause: first });
    expect(files.contentOf(PATH).length).toBe(size);
    expect(dumpText(files)).toBe(before);
    expect(await store.getStats()).toMatchObject({ messageCount: 0 });
  });
});

describe("a file that another process touched", () => {
  it.each<[string, (files: MemoryFiles) => void]>([
    [
      "longer",
      (files) =>
        void files.write(
          files.open(PATH, "readWrite"),
          Buffer.from("{}\n"),
          0,
          3,
          files.contentOf(PATH).length,
        ),
    ],
    ["shorter", (files) => files.truncate(files.open(PATH, "readWrite"), 10)],
    ["replaced", (files) => files.put(PATH, files.contentOf(PATH))],
    ["deleted", (files) => files.unlink(PATH)],
  ])("is not written to any more when it is %s", async (_what, touch) => {
    const files = created();
    const store = open(files);
    await store.commit(messageOf("e_1", null));
    touch(files);
    const content = files.paths().includes(PATH) ? files.contentOf(PATH) : undefined;
    for (const id of ["e_2", "e_3"]) {
      expect(await refusalOf(store.commit(messageOf(id, null)))).toMatchObject({
        name: "StorageFault",
        recovered: false,
      });
    }
    if (content !== undefined) expect(files.contentOf(PATH).equals(content)).toBe(true);
    expect((await store.getEntries(["e_1", "e_2"])).size).toBe(1);
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

describe("creation", () => {
  it("leaves no file or a whole one, whichever call is the last of its process", async () => {
    for (const mode of ["before", "after", "torn"] as const) {
      for (let call = 1; ; call++) {
        const files = new MemoryFiles();
        const dying = new PlannedFailures(files, { mode, fails: (each) => each >= call });
        const options = { path: PATH, metadata: METADATA, clock: clock() };
        try {
          JsonlStorage.create({ ...options, fileSystem: dying }).abandon();
        } catch {
          // The process is dead; what matters is what it left.
        }
        const isThere = files.paths().includes(PATH);
        if (isThere) expect(readJsonlSession(PATH, files).dump.registers).toHaveLength(2);
        const again = isThere ? open(files) : JsonlStorage.create({ ...options, fileSystem: files });
        await again.commit(messageOf("e_1", null));
        await again.close();
        expect(files.paths().filter((path) => leftoverOwner(path) === undefined)).toEqual([PATH]);
        if (dying.fired === 0) break;
      }
    }
  });

  it("removes what it began when a call fails and it lives on", () => {
    for (const mode of ["before", "after", "torn", "short"] as const) {
      const files = new MemoryFiles();
      const failing = new PlannedFailures(files, { mode, watched: ["write"], fails: (call) => call === 1 });
      const create = () =>
        JsonlStorage.create({ path: PATH, metadata: METADATA, clock: clock(), fileSystem: failing });
      expect(create).toThrow(StorageFault);
      expect(files.paths()).toEqual([]);
      expect(files.openCount).toBe(0);
      create().abandon();
    }
  });

  it("refuses metadata that a header could not carry back", () => {
    const create = (metadata: object) => () =>
      JsonlStorage.create({
        path: PATH,
        metadata: metadata as typeof METADATA,
        clock: clock(),
        fileSystem: new MemoryFiles(),
      });
    for (const wrong of [
      { ...METADATA, id: "" },
      { ...METADATA, createdAt: 1.5 },
      { ...METADATA, storageVersion: "1" },
      { ...METADATA, cwd: 4 },
      { ...METADATA, kind: "header" },
      { ...METADATA, v: 4 },
    ]) {
      expect(create(wrong)).toThrow(TypeError);
    }
    expect(create({ ...METADATA, cwd: undefined })).toThrow("undefined");
  });
});
