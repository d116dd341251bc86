/** Inspecting leaves no trace, needs no permission but to read, waits for nobody, and throws for no file. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inspectionText, inspectPath } from "./index.ts";
import { makeFiles, NOW_MS } from "./testing/files.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "inspect-untouched-"));
  await makeFiles(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const look = (path: string) => inspectPath(path, { nowMs: NOW_MS });

/** Everything that a write to a file, or to its folder, would show in. */
function traceOf(path: string): readonly string[] {
  const own = lstatSync(path, { bigint: true });
  const traces = [`${path} ${own.ino} ${own.mode} ${own.nlink} ${own.size} ${own.mtimeNs} ${own.ctimeNs}`];
  if (own.isFile()) traces.push(readFileSync(path).toString("base64"));
  if (own.isDirectory())
    for (const name of readdirSync(path).sort()) traces.push(...traceOf(join(path, name)));
  return traces;
}

describe("inspecting", () => {
  it("leaves every byte, name and time of a folder as it was, also for a database with a WAL and shared memory", async () => {
    const before = traceOf(folder);
    const temporary = readdirSync(tmpdir());
    for (const name of readdirSync(folder)) await look(join(folder, name));
    await look(folder);
    expect(traceOf(folder)).toEqual(before);
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith("session-moment-") && !temporary.includes(name)),
    ).toEqual([]);
  });

  it("needs no permission to write", async () => {
    const names = readdirSync(folder).filter((name) => lstatSync(join(folder, name)).isFile());
    const before = await Promise.all(names.map((name) => look(join(folder, name))));
    for (const name of names) chmodSync(join(folder, name), 0o400);
    chmodSync(folder, 0o500);
    try {
      expect(await Promise.all(names.map((name) => look(join(folder, name))))).toEqual(before);
    } finally {
      chmodSync(folder, 0o700);
      for (const name of names) chmodSync(join(folder, name), 0o600);
    }
  });

  it("explains whatever stands at a path, and waits for nothing", async () => {
    const odd = join(folder, "odd");
    mkdirSync(odd);
    const at = (name: string) => join(odd, name);
    execFileSync("mkfifo", [at("pipe.jsonl")]);
    symlinkSync(at("circle"), at("circle"));
    symlinkSync(join(folder, "jsonl-open.jsonl"), at("link.jsonl"));
    writeFileSync(at("large.jsonl"), '{"v":4,"kind":"header"}\n');
    const server = createServer().listen(at("socket"));
    await once(server, "listening");
    try {
      const said = async (path: string) => {
        const { verdict, files } = await look(path);
        return `${verdict}: ${files[0]?.says}`;
      };
      expect(await said(at("pipe.jsonl"))).toBe("unreadable: unreadable: a pipe is no session file");
      expect(await said(at("socket"))).toBe("unreadable: unreadable: a socket is no session file");
      expect(await said("/dev/zero")).toBe("unreadable: unreadable: a device is no session file");
      expect(await said(at("circle"))).toBe("unreadable: unreadable: its links lead in a circle");
      expect(await said(at("none"))).toBe("unreadable: unreadable: there is no such file");
      expect(await said(join(folder, "README.md", "x"))).toMatch(
        /a part of its path is no folder|no such file/,
      );
      expect(await said("a\0b")).toBe("unreadable: unreadable: no file can have this name");
      expect(await said("x".repeat(5_000))).toBe("unreadable: unreadable: the system answers ENAMETOOLONG");
      truncateSync(at("large.jsonl"), 3 * 2 ** 30);
      expect(await said(at("large.jsonl"))).toMatch(
        /^unreadable: unreadable: it has 3,221,225,472 bytes, and at most/,
      );
      rmSync(at("large.jsonl"));
      // A link that somebody names is followed; one that a walk comes by is not.
      expect(await said(at("link.jsonl"))).toBe("whole: a JSONL session of format 4");
      const { verdict, files, passedOver } = await look(odd);
      expect([verdict, files]).toEqual(["not_a_session", []]);
      expect(passedOver?.map(({ path, why }) => `${path.slice(odd.length + 1)}: ${why}`)).toEqual([
        "circle: links are not followed",
        "link.jsonl: links are not followed",
        "pipe.jsonl: a pipe is no session file",
        "socket: a socket is no session file",
      ]);
    } finally {
      server.close();
      rmSync(odd, { recursive: true });
    }
  });

  it("throws for no file that is cut off anywhere, or has a wrong byte anywhere, and claims no damaged one whole where bytes are missing", async () => {
    const scratch = mkdtempSync(join(tmpdir(), "inspect-cut-"));
    try {
      for (const name of [
        "jsonl-open.jsonl",
        "v3-application.jsonl",
        "transactional-open.jsonl",
        "sqlite-open.db",
      ]) {
        const bytes = readFileSync(join(folder, name));
        const path = join(scratch, name);
        const step = Math.ceil(bytes.length / 60);
        for (let at = 0; at < bytes.length; at += step) {
          for (const changed of [bytes.subarray(0, at), flipped(bytes, at)]) {
            writeFileSync(path, changed);
            const inspection = await look(path);
            expect(inspectionText(inspection)).not.toContain("crashproof itself failed");
            const isCutDatabase = name.endsWith(".db") && changed.length < bytes.length && changed.length > 0;
            if (isCutDatabase) expect(inspection.verdict).not.toBe("whole");
          }
        }
      }
    } finally {
      rmSync(scratch, { recursive: true });
    }
  }, 60_000);
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0x55;
  return copy;
}
