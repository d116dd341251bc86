/**
 * Steps of a repository whose process is killed, by SIGKILL, at every call that it makes on a file or through the SQLite
 * driver.
 *
 * Must survive: every session that the step does not change, and the one that it does as it was before or as it is
 * after. May be left: unfinished files under names that nobody takes for sessions, and a lease that runs out. Not looked
 * at here: loss of power, and calls that fail instead of dying, which `src/session/repository/steps.test.ts` shows.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PairsRequest } from "../fixtures/children/commit-pairs.ts";
import {
  OLD_ID,
  openRepository,
  type RepositoryName,
  type RepositoryStep,
  type StepRequest,
  takeStep,
} from "../fixtures/children/repository-step.ts";
import { VirtualClock } from "../src/foundation/index.ts";
import { createSqliteFile, leftoverOwner, readJsonlSession } from "../src/storage/index.ts";
import { type ChildProgram, childProgram, openScratch, type Scratch } from "../src/subprocess/index.ts";

let program: ChildProgram;
let scratch: Scratch;
beforeAll(async () => {
  const entry = fileURLToPath(new URL("../fixtures/children/repository-step.ts", import.meta.url));
  program = await childProgram({ entry });
  scratch = openScratch();
});
afterAll(() => scratch.remove());

/** Runs one child to its death or to its end. Returns whether it was killed. */
function runChild(request: StepRequest): boolean {
  const args = [program.launcher, program.program, program.codeCache, program.requireFrom];
  const { status, signal, stderr } = spawnSync(process.execPath, args, {
    input: JSON.stringify(request),
    env: {},
    encoding: "utf8",
  });
  if (signal === "SIGKILL") return true;
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
  return false;
}

/** A folder with two sessions, both closed, one of them with what a process left that died before. */
async function prepare(kind: RepositoryName, folder: string): Promise<void> {
  const repository = openRepository(kind, folder, 0);
  for (const id of ["bystander", "source"]) {
    const session = await repository.create({ id });
    await session.appendMessage({ role: "user", content: "kept", timestamp: 1 });
    await session.appendCustomEntry("note", "dropped by the rewrite");
    await session.commit({
      writes: [
        {
          kind: "register",
          op: "set",
          namespace: "fact.custom",
          key: "large",
          value: "x".repeat(20_000),
        },
      ],
    });
    await session.close();
    if (id === "source") writeFileSync(`${session.metadata.path}.new-1`, "unfinished");
  }
}

/** Every session that a repository lists, opened and written to: its branch, and the generation if it has one. */
async function stateOf(kind: RepositoryName, folder: string, incarnation: number): Promise<string> {
  const repository = openRepository(kind, folder, incarnation);
  const states: string[] = [];
  for (const metadata of await repository.list()) {
    const session = await repository.open(metadata);
    const branch = await session.findEntriesOnBranch({ order: "oldestFirst" });
    const told = branch.map((entry) => (entry.type === "custom" ? entry.customType : "kept"));
    await session.setName("goes on");
    await session.close();
    states.push(`${metadata.id}${metadata.storeGeneration ?? ""}: ${told.join(", ")}`);
  }
  return states.sort().join("; ");
}

const UNDONE = "bystander: kept, note; source: kept, note";
const DONE: Record<Exclude<RepositoryStep, "migrate">, string> = {
  create: "bystander: kept, note; made: ; source: kept, note",
  fork: "bystander: kept, note; made: kept, note; source: kept, note",
  rewrite: "bystander: kept, note; source1: kept",
  delete: "bystander: kept, note",
};

const KINDS: readonly RepositoryName[] = ["jsonl", "sqlite"];

describe.each(KINDS)("in a %s repository", (kind) => {
  let prepared: string;
  beforeAll(async () => {
    prepared = join(scratch.folder, `${kind}-prepared`);
    await prepare(kind, prepared);
  });

  const steps = Object.keys(DONE) as (keyof typeof DONE)[];
  it.each(steps)("a %s that is killed at any of its calls is done or not done", async (step) => {
    const found = new Set<string>();
    for (const when of ["inside", "after"] as const) {
      let call = 0;
      for (let wasKilled = true; wasKilled; ) {
        call += 1;
        const folder = join(scratch.folder, `${kind}-${step}-${when}-${call}`);
        mkdirSync(folder);
        for (const name of readdirSync(prepared)) copyFileSync(join(prepared, name), join(folder, name));
        wasKilled = runChild({ kind, step, folder, call, when });
        const state = await stateOf(kind, folder, 2);
        expect([UNDONE, DONE[step]]).toContain(state);
        if (!wasKilled) expect(state).toBe(DONE[step]);
        found.add(state);
        if (state === UNDONE) {
          await takeStep(step, openRepository(kind, folder, 3));
          expect(await stateOf(kind, folder, 4)).toBe(DONE[step]);
        }
        const extension = kind === "jsonl" ? ".jsonl" : ".db";
        const others = readdirSync(folder).filter((name) => !name.endsWith(extension));
        expect(others.filter((name) => leftoverOwner(name) === undefined)).toEqual([]);
      }
      // A step without a write has nothing to die inside of; the last child of each loop found no call left.
      expect(call).toBeGreaterThan(when === "after" ? 2 : 0);
    }
    expect([...found].sort()).toEqual([UNDONE, DONE[step]].sort());
  });
});

describe.each(KINDS)("a %s session of an older storage version", (kind) => {
  it("whose migration is killed at any of its calls has the old version or the new one, and goes on to the new one", async () => {
    const migrated = JSON.stringify(await dumpOf(kind, plantOld(kind, "whole"), 1));
    const versions = new Set<number>();
    let call = 0;
    for (let wasKilled = true; wasKilled; ) {
      call += 1;
      const folder = plantOld(kind, String(call));
      wasKilled = runChild({ kind, step: "migrate", folder, call, when: "after" });
      const [listed] = await openRepository(kind, folder, 2).list();
      versions.add(listed?.storageVersion ?? -1);
      expect(JSON.stringify(await dumpOf(kind, folder, 2))).toBe(migrated);
    }
    expect(call).toBeGreaterThan(2);
    expect([...versions].sort()).toEqual([0, 1]);
  });

  /** A folder with the hand-written session alone. */
  function plantOld(kind: RepositoryName, name: string): string {
    const folder = join(scratch.folder, `${kind}-old-${name}`);
    mkdirSync(folder);
    const fixture = readFileSync(new URL("../fixtures/sessions/version-0-open.jsonl", import.meta.url));
    const path = join(folder, `${OLD_ID}.${kind === "jsonl" ? "jsonl" : "db"}`);
    if (kind === "jsonl") writeFileSync(path, fixture);
    else {
      const { dump } = readJsonlSession(fixture);
      createSqliteFile(path, dump.metadata, { clock: new VirtualClock() }, dump);
    }
    return folder;
  }

  /** What the session holds once it was opened, by value. */
  async function dumpOf(kind: RepositoryName, folder: string, incarnation: number): Promise<unknown> {
    const repository = openRepository(kind, folder, incarnation);
    await takeStep("migrate", repository);
    const [metadata] = await repository.list();
    if (metadata === undefined) throw new Error("the session is gone");
    return repository.read(metadata, (reading) => reading.dump());
  }
});

describe.each(KINDS)("a %s session that another process commits to", (kind) => {
  it("is forked between two of its commits, every time", async () => {
    const folder = join(scratch.folder, `${kind}-pairs`);
    const session = await openRepository(kind, folder, 0).create({ id: "source" });
    await session.close();
    const { metadata } = session;
    const entry = fileURLToPath(new URL("../fixtures/children/commit-pairs.ts", import.meta.url));
    const { launcher, program: writer, codeCache, requireFrom } = await childProgram({ entry });
    const child = spawn(process.execPath, [launcher, writer, codeCache, requireFrom], {
      env: {},
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end(JSON.stringify({ kind, folder } satisfies PairsRequest));
    try {
      await once(child.stdout, "data");
      const forker = openRepository(kind, folder, 2);
      const seen: number[] = [];
      for (let count = 0; count < 8; count++) {
        const fork = await forker.fork(metadata, { scope: count % 2 === 0 ? "tree" : "branch" });
        const turns = (await fork.getCustomFact("turns")) as number;
        expect((await fork.findEntriesOnBranch()).length).toBe(2 * turns);
        expect((await fork.scanEntries({})).length).toBe(2 * turns);
        await fork.close();
        await forker.delete(fork.metadata);
        seen.push(turns);
      }
      // It was written to all the while.
      expect(new Set(seen).size).toBeGreaterThan(1);
      expect(seen.toSorted((left, right) => left - right)).toEqual(seen);
    } finally {
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    }
  });
});
