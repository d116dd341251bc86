/** A file that fails, or that another process touched, holds what was confirmed, and is written to no further in doubt. */
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../foundation/index.ts";
import type { Transaction } from "../../model/index.ts";
import { StorageFault } from "../contract.ts";
import type { MemoryFiles } from "../files/memory-files.ts";
import { readJsonlSession } from "./read.ts";
import {
  created,
  type FailureMode,
  factOf,
  messageOf,
  open,
  PATH,
  PlannedFailures,
  refusalOf,
  settlementOf,
} from "./test-support.ts";

const dumpText = (files: MemoryFiles) => canonicalJson(readJsonlSession(files.contentOf(PATH)).dump);

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
