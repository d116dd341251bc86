/** A commit is in the file whole or not at all, and the file is what was confirmed. */
import { describe, expect, it } from "vitest";
import type { NewFact } from "../fact-types.ts";
import { reduce } from "../reduction.ts";
import type { SessionFile } from "./files.ts";
import { openSession } from "./open.ts";
import { CWD, codeOf, contents, created, FaultyFiles, memory, refuse, user } from "./test-support.ts";

describe("a commit", () => {
  it("writes one fact as an object and several as an array, numbered, timed and named", async () => {
    const files = await memory();
    const { store } = await created(files);
    const [one] = await store.commit([user("a")]);
    const two = await store.commit([user("b"), { ...user("c"), id: store.nextId() } as NewFact]);
    const lines = contents(files, store).trimEnd().split("\n").slice(1);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([one, two]);
    expect([one, ...two].map((fact) => fact?.seq)).toEqual([1, 2, 3]);
    expect(new Set([one, ...two].map((fact) => fact?.timestamp))).toEqual(new Set([1_700_000_000_000]));
  });

  it("overwrites seq and time that a caller gives", async () => {
    const { store } = await created(await memory());
    const [fact] = await store.commit([{ ...user("a"), ...{ seq: 9, timestamp: 3 } }]);
    expect(fact).toMatchObject({ seq: 1, timestamp: 1_700_000_000_000 });
  });

  it("keeps the order of the calls, and a rejection stops nobody behind it", async () => {
    const files = await memory();
    const { store } = await created(files);
    const wrong: NewFact = {
      kind: "record",
      record: { type: "runStarted", operationId: "x", operationKind: "run", inputEntryId: "y" },
    };
    const outcomes = await Promise.allSettled([
      store.commit([user("a")]),
      store.commit([wrong]),
      store.commit([user("b")]),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await store.load()).transcript.map((message) => message.content)).toEqual(["a", "b"]);
  });

  it("that would be refused on reading changes neither bytes nor seq nor state, and says why", async () => {
    const files = await memory();
    const { store } = await created(files);
    await store.commit([user("a")]);
    const before = contents(files, store);
    const state = await store.load();
    const wrong: NewFact = {
      kind: "usage",
      operationId: store.nextId(),
      attemptId: store.nextId(),
      usage: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    };
    const rejection = store.commit([user("b"), wrong]);
    await expect(rejection).rejects.toMatchObject({
      code: "REFUSED",
      refusal: { code: "INVALID_REFERENCE", line: 3, seq: 3 },
    });
    expect(contents(files, store)).toBe(before);
    expect(await store.load()).toEqual(state);
    expect(await store.commit([user("c")])).toMatchObject([{ seq: 2 }]);
  });

  it.each([
    ["a lone surrogate", "\ud800"],
    ["a number that is none", Number.NaN],
    ["nothing", undefined],
  ])("with %s in it is refused before a byte is written", async (_name, content) => {
    const files = await memory();
    const { store } = await created(files);
    const before = contents(files, store);
    expect(await codeOf(store.commit([user(content as string)]))).toBe("NOT_STORABLE");
    expect(contents(files, store)).toBe(before);
  });

  it("takes what its facts were at the call", async () => {
    const { store } = await created(await memory());
    const message = { role: "user", content: "before" } as const;
    const commit = store.commit([{ kind: "entry", entry: { type: "message", message } }]);
    (message as { content: string }).content = "after";
    await commit;
    expect((await store.load()).transcript).toEqual([{ role: "user", content: "before" }]);
  });

  it("round-trips every character", async () => {
    const files = await memory();
    const { store, id, host: where } = await created(files);
    const content = `\u2028\u2029\u0085\u000b\u000c\u0000\ufeff\u007f\u{1f600}\r\n${"x".repeat(1 << 20)}`;
    await store.commit([user(content)]);
    const live = await store.load();
    await store.close();
    const reopened = await openSession(where, CWD, id);
    expect(await reopened.load()).toStrictEqual(live);
    expect(live.transcript[0]?.content).toBe(content);
  });

  it("without facts, or after closing, is refused", async () => {
    const { store } = await created(await memory());
    expect(await codeOf(store.commit([]))).toBe("EMPTY_TRANSACTION");
    const pending = store.commit([user("a")]);
    const closing = store.close();
    expect(await codeOf(store.commit([user("b")]))).toBe("CLOSED");
    await Promise.all([pending, closing, store.close()]);
    expect((await store.load()).transcript).toHaveLength(1);
  });
});

describe("a write that fails", () => {
  const faults = {
    "is refused": refuse,
    "takes nothing": async () => 0,
    "takes a part": async (file: SessionFile, bytes: Uint8Array) => file.append(bytes.subarray(0, 7)),
    "takes all but the line feed": async (file: SessionFile, bytes: Uint8Array) =>
      file.append(bytes.subarray(0, -1)),
    "takes a part and reports an error": async (file: SessionFile, bytes: Uint8Array) => {
      await file.append(bytes.subarray(0, 9));
      return refuse();
    },
    "takes everything and reports an error": async (file: SessionFile, bytes: Uint8Array) => {
      await file.append(bytes);
      return refuse();
    },
  };

  it.each(Object.keys(faults))("and %s leaves file, seq and state as they were", async (name) => {
    const faulty = new FaultyFiles(await memory());
    const { store } = await created(faulty);
    await store.commit([user("a")]);
    const before = contents(faulty.inner, store);
    faulty.append = faults[name as keyof typeof faults];
    expect(await codeOf(store.commit([user("lost")]))).toBe("WRITE_FAILED");
    faulty.append = undefined;
    expect(contents(faulty.inner, store)).toBe(before);
    expect(await store.commit([user("b")])).toMatchObject([{ seq: 2 }]);
    const bytes = faulty.inner.contents(store.path) ?? new Uint8Array();
    const reread = reduce(bytes);
    expect(reread.ok && reread.value.snapshot()).toEqual(await store.load());
  });

  it("and cannot be cut off stops all writing until the session is opened again", async () => {
    const faulty = new FaultyFiles(await memory());
    const { store, id, host: where } = await created(faulty);
    await store.commit([user("a")]);
    faulty.append = faults["takes a part"];
    faulty.truncate = refuse;
    // The file is not as it was, so this is no commit that may be tried again.
    expect(await codeOf(store.commit([user("lost")]))).toBe("NEEDS_REOPEN");
    faulty.append = undefined;
    faulty.truncate = undefined;
    const torn = contents(faulty.inner, store);
    expect(await codeOf(store.commit([user("b")]))).toBe("NEEDS_REOPEN");
    expect(contents(faulty.inner, store)).toBe(torn);
    await store.close();
    const reopened = await openSession(where, CWD, id);
    expect(await reopened.commit([user("b")])).toMatchObject([{ seq: 2 }]);
    expect((await reopened.load()).transcript.map((message) => message.content)).toEqual(["a", "b"]);
  });
});
