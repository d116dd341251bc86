/**
 * Kills at random moments, as they come in life: a store that commits lines of some megabytes is killed with SIGKILL while
 * it works. Shows that torn lines are real, where they tear, and that every survivor opens.
 *
 * Such a line is written in a few milliseconds, so most kills at any moment whatever would miss every write: the
 * parent waits until some write is announced, and then for a moment that is random.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idsOfIncarnation, RealClock, seededRandom, VirtualClock } from "../foundation/index.ts";
import { CURRENT_STORAGE_VERSION, JsonlStorage, readJsonlSession } from "../storage/index.ts";
import { type ChildProgram, childProgram } from "./bundle.ts";
import { openScratch, type Scratch } from "./scratch.ts";

/** Enough for a machine on which one kill in ten tears a line; where more do, most of these are not needed. */
const KILLS_MAX = 100;
/** No fewer than this, also where the first one tears a line. */
const KILLS_MIN = 12;
const WRITES_MAX = 4;
const PAUSE_MAX_MS = 3;
const TURNS_MAX = 20;
const PAGE_BYTES = 4096;

let program: ChildProgram;
let scratch: Scratch;
beforeAll(async () => {
  program = await childProgram({
    entry: fileURLToPath(new URL("./test-writer-program.ts", import.meta.url)),
  });
  scratch = openScratch();
});
afterAll(() => scratch.remove());

/** What one kill left. */
interface Survivor {
  readonly path: string;
  /** Commits of which the parent was told. */
  readonly ackedCount: number;
}

/**
 * When the kill comes: so many turns of the event loop, each some microseconds, after the so-manieth write began; and
 * before them a pause, without which a busy machine gives the child no time to write in.
 */
interface Moment {
  readonly writeCount: number;
  readonly pauseMs: number;
  readonly turnCount: number;
}

async function killAt(name: string, moment: Moment): Promise<Survivor> {
  const path = join(scratch.folder, `${name}.jsonl`);
  const clock = new VirtualClock();
  const id = idsOfIncarnation(1, 0, clock).next();
  const metadata = { id, createdAt: clock.now(), storageVersion: CURRENT_STORAGE_VERSION };
  await JsonlStorage.create({ path, clock, metadata }).close();

  const { launcher, program: bundle, codeCache, requireFrom } = program;
  const child = spawn(process.execPath, [launcher, bundle, codeCache, requireFrom], {
    env: {},
    stdio: ["pipe", "ignore", "inherit", "pipe"],
  });
  let words = "";
  const announcements = child.stdio[3] as Readable;
  announcements.setEncoding("utf8");
  const begun = new Promise<void>((resolve) => {
    announcements.on("data", (text: string) => {
      words += text;
      if (countOf("writing", words) >= moment.writeCount) resolve();
    });
  });
  child.stdin?.write(`${JSON.stringify(path)}\n`);
  await begun;
  if (moment.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, moment.pauseMs));
  for (let turn = 0; turn < moment.turnCount; turn++) await new Promise((resolve) => setImmediate(resolve));
  child.kill("SIGKILL");
  const [, signal] = await once(child, "close");
  expect(signal).toBe("SIGKILL");
  return { path, ackedCount: countOf("committed", words) };
}

function countOf(word: string, text: string): number {
  return text.split(word).length - 1;
}

describe("a kill at a random moment", () => {
  it("tears lines, at page offsets of the file alone, and leaves the previous or the complete state", async () => {
    const random = seededRandom(1, "random-kill");
    let tornCount = 0;
    for (let kill = 0; kill < KILLS_MIN || (tornCount === 0 && kill < KILLS_MAX); kill++) {
      const moment = {
        writeCount: 1 + random.nextInt(WRITES_MAX),
        pauseMs: random.nextInt(1 + PAUSE_MAX_MS),
        turnCount: random.nextInt(TURNS_MAX),
      };
      const { path, ackedCount } = await killAt(String(kill), moment);
      const left = readFileSync(path);
      const { dump, tornTail } = readJsonlSession(path);
      const survived = `kill ${kill} at ${JSON.stringify(moment)}, with ${ackedCount} commits acknowledged`;
      expect([ackedCount, ackedCount + 1], survived).toContain(dump.entries.length);
      if (tornTail !== undefined) {
        tornCount++;
        expect(left.length % PAGE_BYTES, survived).toBe(0);
        expect(dump.entries.length, survived).toBe(ackedCount);
      }
      await expectGoesOn(path, dump.entries.length);
      rmSync(path);
    }
    expect(tornCount, `no kill of ${KILLS_MAX} fell into a write: nothing was shown`).toBeGreaterThan(0);
  }, 180_000);
});

/** The survivor opens, takes a commit, and holds what it held and the commit. */
async function expectGoesOn(path: string, entryCount: number): Promise<void> {
  const clock = new RealClock();
  const storage = JsonlStorage.open({ path, clock });
  const id = idsOfIncarnation(1, 1, clock).next();
  const entry = { type: "custom" as const, id, parentId: null, customType: "after" };
  await storage.commit({ writes: [{ kind: "entry", entry }] });
  await storage.close();
  const { dump, tornTail } = readJsonlSession(path);
  expect(tornTail).toBeUndefined();
  expect(dump.entries.length).toBe(entryCount + 1);
}
