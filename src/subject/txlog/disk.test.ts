/** What is on a disk does not depend on where the disk is: runs and faults are named by bytes of it. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { txlogSubject } from "./subject.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "crashproof-disk-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

it("a new session has the same bytes in every folder", async () => {
  const bytesIn = async (name: string) => {
    mkdirSync(join(folder, name));
    const disk = await txlogSubject().provision({ seed: 1, folder: join(folder, name) });
    const [file] = disk.files?.() ?? [];
    return Buffer.from(file?.bytes ?? []).toString();
  };
  const bytes = await bytesIn("a");
  expect(bytes).toContain("/session");
  expect(await bytesIn("another-one-with-a-longer-name")).toBe(bytes);
});
