import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { assertRoom, openScratch } from "./scratch.ts";

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "scratch-test-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** Makes a scratch folder in a process of its own, which then ends as told. The folder's name. */
function inOtherProcess(end: string): string {
  const module = fileURLToPath(new URL("./scratch.ts", import.meta.url));
  const code = `import { openScratch } from ${JSON.stringify(module)};
    const { folder } = openScratch([${JSON.stringify(place)}]);
    console.log(folder);
    ${end};`;
  const { stdout } = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    encoding: "utf8",
  });
  return basename(stdout.trim());
}

describe("a folder", () => {
  it("has room or has not, by what its file system says", () => {
    expect(() => assertRoom(place, 1)).not.toThrow();
    expect(() => assertRoom(join(place, "none"), Number.MAX_SAFE_INTEGER)).not.toThrow();
    expect(() => assertRoom(place, Number.MAX_SAFE_INTEGER)).toThrow(`of room are left for ${place}: `);
  });
});

describe("a scratch folder", () => {
  it("is empty at first, and gone with all that is in it when it is told so", () => {
    const scratch = openScratch([place]);
    expect(readdirSync(scratch.folder)).toEqual([]);
    mkdirSync(join(scratch.folder, "a", "b"), { recursive: true });
    scratch.remove();
    expect(existsSync(scratch.folder)).toBe(false);
  });

  it("is on a memory file system where the machine has one, and says so", () => {
    const scratch = openScratch();
    expect(scratch.isInMemory).toBe(scratch.folder.startsWith("/dev/shm/"));
    scratch.remove();
  });

  it("is removed when its process exits", () => {
    const name = inOtherProcess("process.exit(0)");
    expect(name).toMatch(/^crashproof-/);
    expect(readdirSync(place)).toEqual([]);
  });

  it("is swept by the next run when its process was killed", () => {
    const name = inOtherProcess("process.kill(process.pid, 'SIGKILL')");
    expect(readdirSync(place)).toEqual([name]);
    const scratch = openScratch([place]);
    expect(readdirSync(place)).toEqual([basename(scratch.folder)]);
    scratch.remove();
  });

  it("is left alone by others while its process lives", () => {
    const [first, second] = [openScratch([place]), openScratch([place])];
    expect(readdirSync(place)).toHaveLength(2);
    first.remove();
    second.remove();
  });

  it("is never taken for one when it belongs to another world, has another name, or is a link", () => {
    const scratch = openScratch([place]);
    const [, world = ""] = basename(scratch.folder).split("-");
    const deadPid = 4_194_304_000;
    const others = ["crashproof-cache-0", `crashproof-000000000000-${deadPid}-7-abc`, "crashproof-", "other"];
    for (const name of others) mkdirSync(join(place, name));
    const target = join(place, "target");
    mkdirSync(target);
    writeFileSync(join(target, "kept"), "");
    symlinkSync(target, join(place, `crashproof-${world}-${deadPid}-7-link`));
    openScratch([place]).remove();
    for (const name of others) expect(existsSync(join(place, name))).toBe(true);
    expect(existsSync(join(target, "kept"))).toBe(true);
    scratch.remove();
  });
});
