import { describe, expect, it } from "vitest";
import { Corruption, idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import type { NewFact } from "../fact-types.ts";
import { reduce } from "../reduction.ts";
import type { SessionStoreError } from "./errors.ts";
import type { SessionFile, SessionFiles } from "./files.ts";
import { MemorySessionFiles } from "./memory-files.ts";
import { createSession, openSession, type SessionHost } from "./open.ts";
import type { FileSessionStore } from "./store.ts";
import { WriterLocks } from "./writer-locks.ts";

const CWD = "/work";

function host(files: SessionFiles, incarnation = 0): SessionHost {
  const clock = new VirtualClock();
  return { files, clock, ids: idsOfIncarnation(1, incarnation, clock), locks: new WriterLocks() };
}

async function memory(): Promise<MemorySessionFiles> {
  const files = new MemorySessionFiles();
  await files.makeDirectory(CWD);
  return files;
}

const user = (content: string): NewFact => ({
  kind: "entry",
  entry: { type: "message", message: { role: "user", content } },
});

async function created(
  files: SessionFiles,
): Promise<{ store: FileSessionStore; id: string; host: SessionHost }> {
  const where = host(files);
  const store = await createSession(where, { cwd: CWD, model: "test/model" });
  return { store, id: (await store.load()).header.id, host: where };
}

/** What a rejection says. */
async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return (error as SessionStoreError | undefined)?.code ?? "resolved";
}

const contents = (files: MemorySessionFiles, store: { path: string }) =>
  Buffer.from(files.contents(store.path) ?? []).toString("utf8");

/** A file system whose next calls on files fail as told. */
class FaultyFiles implements SessionFiles {
  readonly inner: MemorySessionFiles;
  append: ((file: SessionFile, bytes: Uint8Array) => Promise<number>) | undefined;
  truncate: ((file: SessionFile, length: number) => Promise<void>) | undefined;
  setMode: (() => Promise<void>) | undefined;
  closedCount = 0;

  constructor(inner: MemorySessionFiles) {
    this.inner = inner;
  }
  realPath = (path: string) => this.inner.realPath(path);
  makeDirectory = (path: string) => this.inner.makeDirectory(path);
  list = (path: string) => this.inner.list(path);
  remove = (path: string) => this.inner.remove(path);
  create = async (path: string) => this.#wrap(await this.inner.create(path));
  open = async (path: string) => this.#wrap(await this.inner.open(path));

  #wrap(file: SessionFile): SessionFile {
    return {
      read: () => file.read(),
      append: (bytes) => (this.append === undefined ? file.append(bytes) : this.append(file, bytes)),
      truncate: (length) =>
        this.truncate === undefined ? file.truncate(length) : this.truncate(file, length),
      setMode: (mode) => (this.setMode === undefined ? file.setMode(mode) : this.setMode()),
      close: async () => {
        this.closedCount += 1;
        await file.close();
      },
    };
  }
}

const refuse = () => Promise.reject(new Error("EIO"));

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

describe("opening", () => {
  it.each(['{"valid":"json"}', "\u0000\r", "[", "x".repeat(5_000)])(
    "cuts a torn tail off before anything is written",
    async (tail) => {
      const files = await memory();
      const { store, id } = await created(files);
      await store.commit([user("a")]);
      const whole = contents(files, store);
      files.setContents(store.path, Buffer.from(whole + tail));
      const reopened = await openSession(host(files, 1), CWD, id);
      expect(contents(files, reopened)).toBe(whole);
      await reopened.commit([user("b")]);
      expect((await reopened.load()).transcript).toHaveLength(2);
    },
  );

  it("fails where the torn tail cannot be cut off, and releases file and lock", async () => {
    const faulty = new FaultyFiles(await memory());
    const { store, id, host: where } = await created(faulty);
    await store.close();
    faulty.inner.setContents(store.path, Buffer.from(`${contents(faulty.inner, store)}{`));
    faulty.truncate = refuse;
    await expect(openSession(where, CWD, id)).rejects.toThrow("EIO");
    expect(faulty.closedCount).toBe(2);
    faulty.truncate = undefined;
    await expect(openSession(where, CWD, id)).resolves.toBeDefined();
  });

  it("refuses damage with its place, changes no byte, and releases the lock", async () => {
    const files = await memory();
    const { store, id, host: where } = await created(files);
    await store.commit([user("a")]);
    await store.close();
    const whole = contents(files, store);
    const damaged = `${whole.replace('"seq":1', '"seq":2')}{"torn`;
    files.setContents(store.path, Buffer.from(damaged));
    const error: unknown = await openSession(where, CWD, id).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Corruption);
    expect(error).toMatchObject({
      reason: "SEQ_MISMATCH",
      place: { file: store.path, line: 2, byteOffset: whole.indexOf("\n") + 1, subject: "fact 2" },
    });
    expect(contents(files, store)).toBe(damaged);
    files.setContents(store.path, Buffer.from(whole));
    await expect(openSession(where, CWD, id)).resolves.toBeDefined();
  });

  it("is refused while this process writes the file, and allowed after", async () => {
    const files = await memory();
    const { store, id, host: where } = await created(files);
    expect(await codeOf(openSession(where, CWD, id))).toBe("ALREADY_OPEN");
    await store.close();
    const second = await openSession(where, CWD, id);
    await store.close();
    expect(await codeOf(openSession(where, CWD, id))).toBe("ALREADY_OPEN");
    await second.close();
  });

  it("refuses ids that are none, unknown, or borne by two files, and a header of another session", async () => {
    const files = await memory();
    const { store, id, host: where } = await created(files);
    await store.close();
    expect(await codeOf(openSession(where, CWD, "../x"))).toBe("INVALID_SESSION_ID");
    expect(await codeOf(openSession(where, "/elsewhere", id))).toBe("SESSION_NOT_FOUND");
    const other = where.ids.next();
    expect(await codeOf(openSession(where, CWD, other))).toBe("SESSION_NOT_FOUND");
    const bytes = files.contents(store.path) ?? new Uint8Array();
    files.setContents(store.path.replace(id, other), bytes);
    expect(await codeOf(openSession(where, CWD, other))).toBe("HEADER_MISMATCH");
    files.setContents(store.path.replace("_", "-again_"), bytes);
    expect(await codeOf(openSession(where, CWD, id))).toBe("DUPLICATE_SESSION_ID");
  });

  it("tells a folder that cannot be looked at from one without the session", async () => {
    const files = await memory();
    const { store, id, host: where } = await created(files);
    await store.close();
    const realPath = files.realPath.bind(files);
    for (const code of ["EACCES", "EIO"]) {
      files.realPath = () => Promise.reject(Object.assign(new Error(code), { code }));
      await expect(openSession(where, CWD, id)).rejects.toMatchObject({ code });
    }
    for (const code of ["ENOENT", "ENOTDIR"]) {
      files.realPath = () => Promise.reject(Object.assign(new Error(code), { code }));
      expect(await codeOf(openSession(where, CWD, id))).toBe("SESSION_NOT_FOUND");
    }
    files.realPath = realPath;
    await expect(openSession(where, CWD, id)).resolves.toBeDefined();
  });
});

describe("creating", () => {
  it("writes a header under a name that tells time and id", async () => {
    const files = await memory();
    const { store, id } = await created(files);
    expect(store.path).toBe(`/work/.tiny-agent/sessions/2023-11-14T22-13-20-000Z_${id}.jsonl`);
    expect(JSON.parse(contents(files, store))).toEqual({
      kind: "header",
      version: 2,
      id,
      createdAt: 1_700_000_000_000,
      cwd: CWD,
      provider: "openrouter",
      model: "test/model",
      environmentIdentity: CWD,
    });
  });

  it("names the environment as the surroundings do", async () => {
    const where = host(await memory());
    const store = await createSession(where, { cwd: CWD, model: "m", environmentIdentity: "  lab 3 " });
    expect((await store.load()).header.environmentIdentity).toBe("lab 3");
  });

  it.each([0, 1, 20, 150])("that dies after %i bytes leaves a file that nobody can open", async (length) => {
    const faulty = new FaultyFiles(await memory());
    faulty.append = (file, bytes) =>
      file.append(bytes.subarray(0, length)).then(() => new Promise(() => undefined));
    void created(faulty);
    await new Promise((resolve) => setImmediate(resolve));
    const [path = ""] = faulty.inner.paths();
    expect(faulty.inner.contents(path)).toHaveLength(length);
    const id = path.slice(path.indexOf("_") + 1, -".jsonl".length);
    await expect(openSession(host(faulty.inner, 1), CWD, id)).rejects.toMatchObject({
      reason: "MISSING_HEADER",
    });
  });

  it("that fails leaves nothing behind", async () => {
    const faulty = new FaultyFiles(await memory());
    faulty.append = async () => 3;
    expect(await codeOf(created(faulty))).toBe("WRITE_FAILED");
    expect(faulty.inner.paths()).toEqual([]);
    expect(faulty.closedCount).toBe(1);
  });

  it("refuses a header that could not be read", async () => {
    const files = await memory();
    expect(await codeOf(createSession(host(files), { cwd: CWD, model: "" }))).toBe("REFUSED");
    expect(files.paths()).toEqual([]);
  });
});
