/**
 * Disks that are full or read-only: nobody's broken promise, nothing half-written, and a word that says what it is. On
 * file systems of the test's own.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXIT } from "./exit.ts";

const bin = fileURLToPath(new URL("./bin.js", import.meta.url));
const LINE = "crash-points one-turn --subject jsonl --quiet --workers 1";

let place: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "crashproof-full-"));
  for (const name of ["small", "roomy"]) mkdirSync(join(place, name));
});
afterAll(() => rmSync(place, { recursive: true }));

/** Runs a shell that sees mounts of its own. They are gone with it. */
function inOwnMounts(script: string) {
  const { status, stdout, stderr } = spawnSync(
    "unshare",
    ["--map-root-user", "--mount", "sh", "-ec", script],
    {
      cwd: place,
      encoding: "utf8",
    },
  );
  return { status, stdout, stderr };
}

const small = (size: string) => `mount -t tmpfs -o size=${size} tmpfs small`;
const command = (more: string) => `'${process.execPath}' '${bin}' ${LINE} ${more}`;

const canMount =
  spawnSync("unshare", ["--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;

describe.runIf(canMount)("a full disk", () => {
  it("under the scratch folders ends with 4 and says so, where each run would be found to fail", () => {
    const noMemory = "mount -t tmpfs -o size=1m tmpfs /dev/shm";
    const ran = inOwnMounts(`${small("600k")}; ${noMemory}; TMPDIR=$PWD/small ${command("")}`);
    expect(ran.status).toBe(EXIT.failed);
    expect(ran.stderr).toContain("crashproof itself failed: Error: less than 32 MB of room are left for ");
    expect(ran.stdout).toBe("");
  });

  it("under the result ends with 4, and the result that was there stays", () => {
    const fill = "echo old > small/r.json; head -c 59000 /dev/zero > small/fill";
    const shown = "cat small/r.json; ls -A small";
    const ran = inOwnMounts(
      `${small("64k")}; ${fill}; ${command("--json small/r.json")} || echo $?; ${shown}`,
    );
    expect(ran.stderr).toMatch(/^crashproof itself failed: the result could not be written to .*ENOSPC.*\n$/);
    expect(ran.stdout).toMatch(/\nsurvived: [\s\S]*\n4\nold\nfill\nr\.json\n$/);
  });

  it("under the checkpoint is told, and changes nothing of the result", () => {
    const fill = "head -c 60000 /dev/zero > small/fill";
    const ran = inOwnMounts(
      `${small("64k")}; ${fill}; ${command("--subject memory --subject txlog --checkpoint small/c")}; ls -A small`,
    );
    expect(ran.stderr).toMatch(/^crashproof: small\/c cannot be written any more, .*ENOSPC.*\n$/);
    expect(ran.stdout).toMatch(/\nsurvived: [\s\S]*\nc\nc\.lock\nfill\n$/);
    expect(ran.status).toBe(EXIT.survived);
  });
});

describe.runIf(canMount)("a read-only disk", () => {
  it.each([
    ["--json small/there", "UNWRITABLE_OUTPUT", "access '.*/small/there'"],
    ["--checkpoint small/new", "UNWRITABLE_CHECKPOINT", "open '.*/small/new.lock'"],
    ["--checkpoint small/there", "UNWRITABLE_CHECKPOINT", "access 'small/there'"],
  ])("is seen before anything is explored: %s", (more, code, call) => {
    const script = `${small("64k")}; touch small/there; mount -o remount,ro small; ${command(more)}`;
    const ran = inOwnMounts(script);
    expect(ran.stderr).toMatch(new RegExp(`EROFS: read-only file system, ${call} \\[${code}\\]\\n$`));
    expect(ran).toMatchObject({ status: EXIT.usage, stdout: "" });
  });
});
