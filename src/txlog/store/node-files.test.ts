import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NodeSessionFiles } from "./node-files.ts";
import { createSession, openSession, type SessionHost } from "./open.ts";
import { host, user } from "./test-support.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "txlog-"));
});
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

async function session(where: SessionHost): Promise<{ path: string; id: string }> {
  const store = await createSession(where, { cwd, model: "test/model" });
  const { id } = (await store.load()).header;
  await store.commit([user("a")]);
  await store.close();
  return { path: store.path, id };
}

describe("a session on the host's file system", () => {
  it("is written, cut, and read again", async () => {
    const where = host(new NodeSessionFiles());
    const { path, id } = await session(where);
    writeFileSync(path, "torn", { flag: "a" });
    const store = await openSession(where, cwd, id);
    await store.commit([user("b")]);
    await store.close();
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[3]).toBe("");
  });

  it("belongs to its owner alone, also after someone opened it up", async () => {
    const where = host(new NodeSessionFiles());
    const { path, id } = await session(where);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o644);
    await (await openSession(where, cwd, id)).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is not found behind a link", async () => {
    const where = host(new NodeSessionFiles());
    const { path, id } = await session(where);
    const moved = join(cwd, basename(path));
    renameSync(path, moved);
    symlinkSync(moved, path);
    await expect(openSession(where, cwd, id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(readFileSync(moved, "utf8")).not.toBe("");
  });

  it("is not opened through a link that takes its place after it was found", async () => {
    const where = host(new NodeSessionFiles());
    const { path, id } = await session(where);
    const moved = join(cwd, basename(path));
    const files = new NodeSessionFiles();
    const open = files.open.bind(files);
    files.open = (target) => {
      renameSync(path, moved);
      symlinkSync(moved, path);
      return open(target);
    };
    await expect(openSession({ ...where, files }, cwd, id)).rejects.toMatchObject({ code: "ELOOP" });
  });

  it("is not taken from another directory", async () => {
    const where = host(new NodeSessionFiles());
    const { id } = await session(where);
    const files = new NodeSessionFiles();
    const realPath = files.realPath.bind(files);
    files.realPath = async (target) =>
      target.endsWith(".jsonl") ? join("/elsewhere", basename(target)) : realPath(target);
    await expect(openSession({ ...where, files }, cwd, id)).rejects.toMatchObject({
      code: "UNSAFE_SESSION_PATH",
    });
  });

  it("is not created over a file that is there", async () => {
    const where = host(new NodeSessionFiles());
    const { path } = await session(where);
    await expect(where.files.create(path, 0o600)).rejects.toMatchObject({ code: "EEXIST" });
  });

  it("does not reach another file after it was closed", async () => {
    const where = host(new NodeSessionFiles());
    const { path } = await session(where);
    const file = await where.files.open(path);
    await file.close();
    await expect(file.append(Buffer.from("x"))).rejects.toThrow("EBADF");
    await expect(file.close()).rejects.toThrow("EBADF");
  });
});
