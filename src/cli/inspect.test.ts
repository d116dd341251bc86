/** `inspect` ends with the code of its verdict, says its finding on stdout, and nothing on stderr. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFiles } from "../inspect/testing/files.ts";
import { crashproof } from "./testing/command.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "crashproof-inspect-"));
  await makeFiles(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("inspect", () => {
  it.each([
    ["jsonl-open.jsonl", 0],
    ["jsonl-torn.jsonl", 0],
    ["v3-application.jsonl", 0],
    ["sqlite-killed.db", 0],
    ["transactional-open.jsonl", 0],
    ["jsonl-damaged-line.jsonl", 1],
    ["jsonl-lost-state.jsonl", 1],
    ["sqlite-damaged-index.db", 1],
    ["transactional-damaged.jsonl", 1],
    ["jsonl-newer.jsonl", 2],
    ["session.v3.jsonl", 2],
    ["README.md", 2],
    ["none", 2],
    ["below", 2],
    ["", 1],
  ])("of %s ends with %i", async (name, code) => {
    const ran = await crashproof("inspect", join(folder, name));
    expect(ran).toMatchObject({ code, err: "" });
    expect(ran.out).toContain(join(folder, name));
    expect(ran.out.endsWith("\n")).toBe(true);
  });

  it("prints the same finding as JSON of a named schema, with the byte at which a file is refused", async () => {
    const { code, out } = await crashproof("inspect", "--json", join(folder, "jsonl-damaged-line.jsonl"));
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      schema: "crashproof-inspect/1",
      verdict: "damaged",
      files: [{ refusal: { reason: "not_json", line: 4, byteOffset: 1010 } }],
    });
  });

  it("ends at once in a process of its own, also for a pipe that nobody writes to", () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const bin = fileURLToPath(new URL("./bin.js", import.meta.url));
    const args = ["--import", "tsx", bin, "inspect", pipe];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 30_000 });
    expect({ status, stdout }).toEqual({
      status: 2,
      stdout: `${pipe}: unreadable: a pipe is no session file\n`,
    });
  });

  it("has codes that its help and the README tell", async () => {
    const { out } = await crashproof("inspect", "--help");
    for (const part of ["0 whole", "1 damaged", "2 no session", "3 did not hold still"])
      expect(out).toContain(part);
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    expect(readme).toContain("### Reading a broken session file");
  });
});
