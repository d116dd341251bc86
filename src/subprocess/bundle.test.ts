import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ChildProgram, childProgram, writeChildPrograms } from "./bundle.ts";

let root: string;
let cacheFolder: string;
let entry: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bundle-test-"));
  cacheFolder = join(root, "cache");
  for (const folder of ["cache", "src", join("src", "subprocess")]) mkdirSync(join(root, folder));
  writeFileSync(join(root, "package.json"), '{"name":"crashproof","type":"module"}');
  const launcher = new URL("./launch.ts", import.meta.url);
  writeFileSync(join(root, "src", "subprocess", "launch.ts"), readFileSync(launcher));
  entry = join(root, "src", "entry.ts");
  writeFileSync(join(root, "src", "word.ts"), "export const word: string = 'first';");
  writeFileSync(
    entry,
    `import { word } from "./word.ts";
     export function main(hooks: { warmed(): void }) {
       console.log(word, import.meta.url.startsWith("file:"));
       hooks.warmed();
     }`,
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const program = () => childProgram({ root, entry, cacheFolder });
const run = ({ launcher, program, codeCache, requireFrom }: ChildProgram) =>
  execFileSync(process.execPath, [launcher, program, codeCache, requireFrom], { encoding: "utf8" }).trim();

describe("the program that children run", () => {
  it("runs what the sources say, and is the same file while they stay", async () => {
    const first = await program();
    expect(run(first)).toBe("first true");
    expect(await program()).toEqual(first);
  });

  it("is another one as soon as any of its sources has changed", async () => {
    const first = await program();
    writeFileSync(join(root, "src", "word.ts"), "export const word = 'second';");
    const second = await program();
    expect(second.program).not.toBe(first.program);
    expect(run(second)).toBe("second true");
    expect(run(first)).toBe("first true");
  });

  it("is built again when the cached file is not what it was", async () => {
    const first = await program();
    writeFileSync(first.program, "throw new Error('tampered')");
    expect(run(await program())).toBe("first true");
  });

  it("is whole for each of those that build it at once, and leaves no half file behind", async () => {
    const programs = await Promise.all([program(), program(), program(), program()]);
    for (const one of programs) expect(run(one)).toBe("first true");
    expect(readdirSync(cacheFolder).filter((name) => !/\.(cjs|json|v8)$/.test(name))).toEqual([]);
  });

  it("stays while it may be in use, however much is built meanwhile, and what is old goes", async () => {
    const first = await program();
    const other = (name: string, ageHours: number) => {
      const path = join(cacheFolder, name);
      const used = new Date(Date.now() - ageHours * 3_600_000);
      writeFileSync(path, "");
      utimesSync(path, used, used);
    };
    for (let index = 0; index < 100; index++) other(`young-${index}`, 1);
    for (let index = 0; index < 100; index++) other(`old-${index}`, 24);
    writeFileSync(join(root, "src", "word.ts"), "export const word = 'second';");
    expect(run(await program())).toBe("second true");
    expect(run(first)).toBe("first true");
    const names = readdirSync(cacheFolder);
    expect(names.filter((name) => name.startsWith("young"))).toHaveLength(100);
    expect(names.filter((name) => name.startsWith("old"))).toEqual([]);
  });

  it("keeps V8's code once it has worked, and survives a code cache that is damaged", async () => {
    const one = await program();
    run(one);
    expect(statSync(one.codeCache).size).toBeGreaterThan(0);
    writeFileSync(one.codeCache, "no code at all");
    expect(run(one)).toBe("first true");
    expect(readFileSync(one.codeCache).length).toBeGreaterThan("no code at all".length);
  });

  it("is the built one in a package that was published without its sources", async () => {
    mkdirSync(join(root, "src", "cli"));
    for (const name of [
      "subprocess/child-program.ts",
      "subprocess/contender-program.ts",
      "cli/worker-program.ts",
    ])
      writeFileSync(join(root, "src", name), 'export { main } from "../entry.ts";');
    await writeChildPrograms(root);
    rmSync(join(root, "src"), { recursive: true });
    const published = await childProgram({ root, cacheFolder });
    expect(published.program).toBe(join(root, "dist", "child", "program.cjs"));
    expect(run(published)).toBe("first true");
  });
});
