/** A session is created whole, found by its id, and opened by one writer. */
import { describe, expect, it } from "vitest";
import { Corruption } from "../../foundation/index.ts";
import { createSession, openSession } from "./open.ts";
import { CWD, codeOf, contents, created, FaultyFiles, host, memory, refuse, user } from "./test-support.ts";

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
