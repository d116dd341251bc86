/** What is said of steps that fail beside the rename; those before it fail, one by one, in the tests of the stores. */
import { describe, expect, it } from "vitest";
import { StorageFault } from "../contract.ts";
import { MemoryFiles } from "./memory-files.ts";
import { createFile, exists, replaceFile } from "./replacement.ts";

const PATH = "folder/session";
const content = [Buffer.from("new")];

function filesWith(text: string): MemoryFiles {
  const files = new MemoryFiles();
  files.put(PATH, text);
  return files;
}

function hostError(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail`), { code });
}

describe("a file that is put in its place", () => {
  it("stands there also when its folder could not be synced, which is said", () => {
    const fileSystem = filesWith("old");
    expect(replaceFile(PATH, content, { fileSystem, isSynced: true }).isFolderSynced).toBe(true);
    fileSystem.syncFolder = () => {
      throw hostError("EIO");
    };
    const again = replaceFile(PATH, [Buffer.from("newer")], { fileSystem, isSynced: true });
    expect(again).toMatchObject({ sizeBytes: 5, isFolderSynced: false });
    expect([fileSystem.contentOf(PATH).toString(), fileSystem.paths()]).toEqual(["newer", [PATH]]);
  });

  it("is not said to be synced where nobody asked for it", () => {
    const fileSystem = new MemoryFiles();
    expect(createFile(PATH, content, { fileSystem, isSynced: false }).isFolderSynced).toBe(false);
  });
});

describe("a name that is looked at", () => {
  it("is taken or free", () => {
    const files = filesWith("old");
    expect([exists(PATH, files), exists("folder/other", files), files.openCount]).toEqual([true, false, 0]);
  });

  it("is neither where the host does not answer: that is a fault, with nothing changed", () => {
    const files = filesWith("old");
    files.open = () => {
      throw hostError("EIO");
    };
    expect(() => exists(PATH, files)).toThrow(StorageFault);
    expect(() => exists(PATH, files)).toThrow(expect.objectContaining({ recovered: true }));
  });
});
