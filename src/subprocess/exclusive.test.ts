/** A name that is taken stays taken, whoever asks for it and from where. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { takeExclusively } from "./exclusive.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "exclusive-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Whether another process gets it. */
function isFreeElsewhere(path: string): boolean {
  const module = fileURLToPath(new URL("./exclusive.ts", import.meta.url));
  const code = `import { takeExclusively } from ${JSON.stringify(module)}; console.log(takeExclusively(${JSON.stringify(path)}) !== undefined);`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", code],
    { cwd: fileURLToPath(new URL("../..", import.meta.url)), encoding: "utf8" },
  );
  expect(stderr).toBe("");
  return JSON.parse(stdout) as boolean;
}

it("is refused to others and to its own process, which takes nothing from who has it", () => {
  const path = join(folder, "name.lock");
  const release = takeExclusively(path);
  expect(release).toBeDefined();
  expect(takeExclusively(path)).toBeUndefined();
  expect(isFreeElsewhere(path)).toBe(false);
  release?.();
  expect(isFreeElsewhere(path)).toBe(true);
  takeExclusively(path)?.();
});
