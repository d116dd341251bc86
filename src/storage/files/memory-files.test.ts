import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type FileSystem, hostFileSystem, readWhole } from "./file-system.ts";
import { MemoryFiles } from "./memory-files.ts";

const folder = mkdtempSync(join(tmpdir(), "crashproof-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** One script of calls; what each returned, or the code of the error. */
function script(files: FileSystem, prefix: string): unknown[] {
  const told: unknown[] = [];
  const tell = (work: () => unknown) => {
    try {
      told.push(work());
    } catch (error) {
      told.push((error as { code?: unknown }).code);
    }
  };
  const a = join(prefix, "a");
  const b = join(prefix, "b");
  const whole = (path: string) => {
    const file = files.open(path, "read");
    const text = readWhole(files, file).toString();
    files.close(file);
    return text;
  };
  const status = (file: number) => {
    const { size, nlink } = files.fstat(file);
    return { size, nlink };
  };
  tell(() => whole(a));
  const file = files.open(a, "createNew");
  tell(() => files.open(a, "createNew"));
  tell(() => files.write(file, Buffer.from("xhello"), 1, 5, 0));
  tell(() => files.write(file, Buffer.from("!"), 0, 1, 8));
  tell(() => whole(a));
  tell(() => files.truncate(file, 3));
  tell(() => whole(a));
  tell(() => files.truncate(file, 5));
  tell(() => whole(a));
  const into = Buffer.alloc(4, "-");
  tell(() => files.read(file, into, 1, 3, 2));
  tell(() => into.toString());
  tell(() => files.read(file, into, 0, 4, 99));
  tell(() => status(file));
  tell(() => files.rename(a, b));
  tell(() => whole(a));
  tell(() => whole(b));
  tell(() => files.rename(a, b));
  const second = files.open(a, "createNew");
  tell(() => files.write(second, Buffer.from("second"), 0, 6, 0));
  tell(() => files.rename(a, b));
  tell(() => [whole(b), status(file), status(second)]);
  tell(() => files.write(file, Buffer.from("old"), 0, 3, 0));
  tell(() => whole(b));
  tell(() => files.unlink(b));
  tell(() => files.unlink(b));
  tell(() => status(second));
  tell(() => files.close(second));
  tell(() => files.close(file));
  tell(() => files.fstat(file));
  return told;
}

describe("files in memory", () => {
  it("answer as the host's do", () => {
    expect(script(new MemoryFiles(), "")).toEqual(script(hostFileSystem, folder));
  });

  it("fork to files that change on their own", () => {
    const files = new MemoryFiles();
    files.put("a", "one");
    const fork = files.fork();
    files.put("a", "two");
    fork.put("b", "three");
    expect([fork.contentOf("a").toString(), files.paths(), fork.paths()]).toEqual(["one", ["a"], ["a", "b"]]);
  });
});
