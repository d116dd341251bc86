/** A session file is there whole or is not, under its name alone, when it is created and when it is replaced. */
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Corruption } from "../../foundation/index.ts";
import { StorageFault } from "../contract.ts";
import { SessionExists } from "../creation.ts";
import { unlinkedFileSystem } from "../files/file-system.ts";
import { MemoryFiles } from "../files/memory-files.ts";
import { leftoverOwner } from "../files/replacement.ts";
import { STOP_FORMS, StoppingFiles } from "../files/stopping-files.ts";
import { createJsonlFile } from "./creation.ts";
import { readJsonlMetadata, readJsonlSession } from "./read.ts";
import { JsonlStorage } from "./storage.ts";
import { clock, created, factOf, METADATA, messageOf, open, PATH, PlannedFailures } from "./test-support.ts";

describe("a session file that is created", () => {
  it("takes the place of no other, also of one that came while it was written", () => {
    const files = new MemoryFiles();
    createJsonlFile(PATH, METADATA, files);
    const bytes = files.contentOf(PATH);
    expect(() => createJsonlFile(PATH, METADATA, files)).toThrow(SessionExists);
    const racing = new MemoryFiles();
    const write = racing.write.bind(racing);
    racing.write = (...call) => {
      if (!racing.paths().includes(PATH)) racing.put(PATH, "another process was faster");
      return write(...call);
    };
    expect(() => createJsonlFile(PATH, METADATA, racing)).toThrow(SessionExists);
    expect(racing.contentOf(PATH).toString()).toBe("another process was faster");
    expect([files.paths(), racing.paths()]).toEqual([[PATH], [PATH]]);
    expect(files.contentOf(PATH).equals(bytes)).toBe(true);
  });

  it("is there or is not, whatever step fails or kills", () => {
    for (const form of STOP_FORMS) {
      for (let call = 1; ; call++) {
        const disk = new MemoryFiles();
        const files = new StoppingFiles(disk);
        files.arm({ call, ...form });
        let failure: unknown;
        try {
          createJsonlFile(PATH, METADATA, files);
        } catch (error) {
          failure = error;
        }
        if (disk.paths().includes(PATH)) {
          expect(readJsonlSession(PATH, disk).metadata).toEqual(METADATA);
        } else expect(failure).toBeInstanceOf(StorageFault);
        expect(disk.paths().every((path) => path === PATH || path === `${PATH}.new-1`)).toBe(true);
        if (!files.hasFired) break;
      }
    }
  });

  it("is renamed into its place where the file system has no second names", () => {
    const files = new MemoryFiles();
    files.link = () => {
      throw Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM" });
    };
    createJsonlFile(PATH, METADATA, files);
    expect(files.paths()).toEqual([PATH]);
    expect(() => createJsonlFile(PATH, METADATA, files)).toThrow(SessionExists);
  });
});

describe("a store on a session file that is created", () => {
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

describe("the metadata of a session file", () => {
  it("is read from the first line alone, however long it is and whatever follows", () => {
    const files = new MemoryFiles();
    const metadata = { ...METADATA, storageVersion: 99, cwd: "/d".repeat(40_000) };
    createJsonlFile(PATH, { ...metadata, storageVersion: 1 }, files);
    const [header] = files.contentOf(PATH).toString().split("\n");
    files.put(PATH, `${header?.replace('"storageVersion":1', '"storageVersion":99')}\nno JSON\n`);
    expect(readJsonlMetadata(PATH, files)).toEqual(metadata);
  });

  it.each([
    ["an empty file", ""],
    ["a header that was never finished", '{"v":4,"kind":"header","id":"s"'],
    ["a file without lines", "x".repeat(3_000_000)],
    ["a file of another kind", "# a note\n"],
  ])("is not made up for %s", (_name, content) => {
    const files = new MemoryFiles();
    files.put(PATH, content);
    expect(() => readJsonlMetadata(PATH, files)).toThrow(Corruption);
  });
});

describe("contents that are replaced", () => {
  const contents = {
    entries: [],
    registers: [{ namespace: "lane.leaf" as const, key: "main", value: null, seq: 4 }],
    usage: [],
  };

  it("are the new ones for whoever opens next, and the store is closed", async () => {
    const files = created();
    const storage = open(files);
    await storage.commit(messageOf("e", null));
    await storage.replaceContents({ ...METADATA, storeGeneration: 1 }, contents);
    await expect(storage.commit(factOf("k", "v"))).rejects.toMatchObject({ code: "STORAGE_CLOSED" });
    const { dump } = readJsonlSession(PATH, files);
    expect(dump).toMatchObject({ metadata: { storeGeneration: 1 }, ...contents });
    expect([files.paths(), files.openCount]).toEqual([[PATH], 0]);
  });

  it("are the old ones after a failure, and the store goes on", async () => {
    const files = created();
    const storage = open(files);
    const orphan = messageOf("o", "nowhere").writes[0];
    const entries = [{ ...(orphan as { entry: object }).entry, seq: 1, timestamp: 1 }] as never[];
    await expect(storage.replaceContents(METADATA, { ...contents, entries })).rejects.toBeInstanceOf(
      Corruption,
    );
    await storage.commit(messageOf("e", null));
    files.put(`${PATH}.x`, "another process wrote this");
    files.rename(`${PATH}.x`, PATH);
    await expect(storage.replaceContents(METADATA, contents)).rejects.toMatchObject({ recovered: false });
    expect(files.contentOf(PATH).toString()).toBe("another process wrote this");
  });
});

describe("files without links", () => {
  it("refuse a path that is a link, in every mode", () => {
    const folder = mkdtempSync(join(tmpdir(), "unlinked-"));
    try {
      const target = join(folder, "target");
      writeFileSync(target, "outside");
      symlinkSync(target, join(folder, "link"));
      for (const mode of ["read", "readWrite", "createNew"] as const) {
        expect(() => unlinkedFileSystem.open(join(folder, "link"), mode)).toThrow(/ELOOP|EEXIST/);
      }
      const file = unlinkedFileSystem.open(join(folder, "new"), "createNew");
      unlinkedFileSystem.close(file);
      expect(statSync(join(folder, "new")).mode & 0o777).toBe(0o600);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
