/** The version is found wherever the package is. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { versionAround } from "./version.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "crashproof-version-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ["two levels up", "plain", "src/cli"],
  ["three levels up", "compiled", "dist/src/cli"],
  ["in a folder whose name a URL writes otherwise", "of #1, 100%41 mine", "src/cli"],
])("is that of the manifest %s", (_, name, place) => {
  const root = join(folder, name);
  mkdirSync(join(root, place), { recursive: true });
  writeFileSync(join(root, "package.json"), '{"version":"7.8.9"}');
  expect(versionAround(pathToFileURL(join(root, place, "version.js")).href)).toBe("7.8.9");
});

it("is unknown where there is no manifest", () => {
  expect(versionAround(pathToFileURL(join(folder, "a/b/c/version.js")).href)).toBe("unknown");
});
