/**
 * What `inspect` prints of a file of each kind and condition, held against text that was read by a person. To renew the
 * texts after a change of words: `vitest run src/inspect/golden.test.ts -u`, and read the difference.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inspectionText, inspectPath } from "./index.ts";
import { makeFiles, NOW_MS } from "./testing/files.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "inspect-golden-"));
  await makeFiles(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const golden = (name: string) => fileURLToPath(new URL(`../../fixtures/inspect/${name}`, import.meta.url));
const look = async (path: string) => inspectPath(path, { nowMs: NOW_MS });
/** Without what changes from run to run, and from one JavaScript engine to the next. */
const inFolder = (text: string) =>
  text.replaceAll(folder, "FOLDER").replace(/is no JSON: .*?; nothing/g, "is no JSON: …; nothing");

describe("inspect says of each file", () => {
  it("what it is, in words, and how that is judged", async () => {
    const names = readdirSync(folder).filter(
      (name) => !/-(shm|wal)$|^below$/.test(name) || name === "orphan.db-wal",
    );
    expect(names.length).toBeGreaterThan(40);
    for (const name of names) {
      const inspection = await look(join(folder, name));
      const text = `verdict: ${inspection.verdict}\n${inspectionText(inspection)}`;
      await expect(inFolder(text)).toMatchFileSnapshot(golden(`${name}.txt`));
    }
  });

  it.each([
    "jsonl-damaged-line.jsonl",
    "jsonl-torn.jsonl",
    "sqlite-killed.db",
    "transactional-open.jsonl",
    "v3-damaged.jsonl",
  ])("the same as data: %s", async (name) => {
    const json = JSON.stringify(await look(join(folder, name)), null, 2);
    await expect(inFolder(json)).toMatchFileSnapshot(golden(`${name}.json`));
  });

  it("and of a folder with all of them", async () => {
    const inspection = await look(folder);
    expect(inspection.verdict).toBe("damaged");
    const found = inspection.files.map(({ path, kind, verdict }) => `${path} ${kind} ${verdict}`);
    const summary = inspectionText(inspection).split("\n\n").at(-1) ?? "";
    await expect(inFolder(`${found.join("\n")}\n\n${summary}`)).toMatchFileSnapshot(golden("folder.txt"));
  });
});
