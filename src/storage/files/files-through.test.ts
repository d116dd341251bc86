/** No call of a file system goes past the one method, and none under another's name. */
import { expect, it } from "vitest";
import { type FileSystem, hostFileSystem } from "./file-system.ts";
import { type FileCall, FilesThrough } from "./files-through.ts";

const NAMES = Object.keys(hostFileSystem) as (keyof FileSystem)[];

/** Answers each call with its name, and notes what is asked of it. */
const inner = (asked: unknown[]) =>
  Object.fromEntries(
    NAMES.map((name) => [name, (...args: unknown[]) => asked.push([name, ...args])]),
  ) as unknown as FileSystem;

class Noting extends FilesThrough {
  readonly passed: FileCall<unknown>[] = [];

  protected pass<T>(call: FileCall<T>): T {
    this.passed.push(call);
    return undefined as T;
  }
}

/** Calls one by its name, with as many numbers as any call takes. */
function call(files: FileSystem, name: keyof FileSystem): unknown {
  return (files[name] as (...args: unknown[]) => unknown).call(files, 1, 2, 3, 4, 5);
}

it.each(NAMES)("%s is asked for by its name, and happens when it is made", (name) => {
  const asked: unknown[] = [];
  const files = new Noting(inner(asked));
  call(files, name);
  expect(asked).toEqual([]);
  expect(files.passed.map((one) => one.name)).toEqual([name]);
  files.passed[0]?.make();
  const [[made, ...args] = []] = asked as unknown[][];
  expect(made).toBe(name);
  expect(args).toEqual([1, 2, 3, 4, 5].slice(0, args.length));
  expect(args).toHaveLength(hostFileSystem[name].length);
});

it("a write is made in part with its first bytes", () => {
  const asked: unknown[] = [];
  const files = new Noting(inner(asked));
  files.write(7, Buffer.from("abcdef"), 1, 5, 40);
  const [{ write } = {}] = files.passed;
  expect(write).toMatchObject({ position: 40, length: 5 });
  write?.make(2);
  expect(asked).toEqual([["write", 7, Buffer.from("abcdef"), 1, 2, 40]]);
});

it("of opening is told how", () => {
  const files = new Noting(inner([]));
  files.open("a", "createNew");
  expect(files.passed[0]?.mode).toBe("createNew");
});
