/** Inspecting a session that another process commits to all the while. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRepository } from "../../fixtures/children/repository-step.ts";
import { childProgram, openScratch, type Scratch } from "../subprocess/index.ts";
import { inspectPath } from "./index.ts";
import { NOW_MS } from "./testing/files.ts";

let scratch: Scratch;
beforeAll(() => {
  scratch = openScratch();
});
afterAll(() => scratch.remove());

describe("inspecting beside a live writer", () => {
  it.each(["jsonl", "sqlite"] as const)(
    "shows one moment between two commits each time, and touches nothing of the writer's: %s",
    async (kind) => {
      const folder = join(scratch.folder, kind);
      const session = await openRepository(kind, folder, 0).create({ id: "source" });
      const { path } = session.metadata;
      await session.close();
      const entry = fileURLToPath(new URL("../../fixtures/children/commit-pairs.ts", import.meta.url));
      const { launcher, program, codeCache, requireFrom } = await childProgram({ entry });
      const child = spawn(process.execPath, [launcher, program, codeCache, requireFrom], {
        env: {},
        stdio: ["pipe", "pipe", "inherit"],
      });
      try {
        child.stdin.end(JSON.stringify({ kind, folder }));
        await once(child.stdout, "data");
        const names = readdirSync(folder).sort();
        const seen: number[] = [];
        for (let count = 0; count < 40; count++) {
          const { verdict, files } = await inspectPath(path, { nowMs: NOW_MS });
          expect(verdict).toBe("whole");
          // A transaction is two entries; half of one would show here, and so would a leaf without its entry.
          const { entryCount = 1 } = files[0]?.session ?? {};
          expect(entryCount % 2).toBe(0);
          seen.push(entryCount);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        expect(seen).toEqual(seen.toSorted((left, right) => left - right));
        // It was written to all the while, and goes on.
        expect(new Set(seen).size).toBeGreaterThan(3);
        expect(readdirSync(folder).sort()).toEqual(names);
        expect(child.exitCode).toBe(null);
      } finally {
        const ended = once(child, "close");
        child.kill("SIGKILL");
        await ended;
      }
    },
    60_000,
  );
});
