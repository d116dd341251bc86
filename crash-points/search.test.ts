/**
 * A search index whose process is killed, by SIGKILL, after every statement that writes to it, and one that several
 * processes bring up to date at once.
 *
 * Must hold: after the next sync the index is that of a process that was never killed and was alone. Not looked at here:
 * loss of power; what it loses, the next sync finds by the cursors.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type SyncRequest, syncIndex } from "../fixtures/children/search-sync.ts";
import { idsOfIncarnation, VirtualClock } from "../src/foundation/index.ts";
import { jsonlRepository } from "../src/session/index.ts";
import { type ChildProgram, childProgram, openScratch, type Scratch } from "../src/subprocess/index.ts";

let program: ChildProgram;
let scratch: Scratch;
let folder: string;
beforeAll(async () => {
  const entry = fileURLToPath(new URL("../fixtures/children/search-sync.ts", import.meta.url));
  program = await childProgram({ entry });
  scratch = openScratch();
  folder = join(scratch.folder, "sessions");
  const clock = new VirtualClock();
  const repository = jsonlRepository({ folder, clock, idGenerator: idsOfIncarnation(1, 0, clock) });
  for (const id of ["a", "b"]) {
    const session = await repository.create({ id });
    for (let count = 0; count < 7; count++) {
      await session.appendMessage({ role: "user", content: `word ${id} ${count}`, timestamp: 1 });
    }
    await session.close();
  }
});
afterAll(() => scratch.remove());

const childArguments = () => [program.launcher, program.program, program.codeCache, program.requireFrom];

/** What an index holds, with its words held against its texts. */
function contentsOf(path: string): unknown {
  const database = new Database(path);
  database.exec("INSERT INTO documents_fts(documents_fts) VALUES ('integrity-check')");
  const contents = {
    isSound: database.pragma("integrity_check", { simple: true }),
    documents: database.prepare("SELECT session_id, entry_id, text FROM documents ORDER BY 1, 2").all(),
    cursors: database.prepare("SELECT session_id, generation, seq, entry_id FROM cursors ORDER BY 1").all(),
    found: database
      .prepare("SELECT count(*) FROM documents_fts WHERE documents_fts MATCH 'word'")
      .pluck()
      .get(),
  };
  database.close();
  return contents;
}

async function reference(): Promise<unknown> {
  const index = join(scratch.folder, "reference.db");
  await syncIndex({ folder, index });
  return contentsOf(index);
}

it("an index whose process is killed after any of its statements is brought up to date by the next sync", async () => {
  const expected = await reference();
  expect(expected).toMatchObject({ isSound: "ok", found: 14 });
  let call = 0;
  for (let wasKilled = true; wasKilled; ) {
    call += 1;
    const index = join(scratch.folder, `killed-${call}.db`);
    const request: SyncRequest = { folder, index, call };
    const options = { input: JSON.stringify(request), env: {}, encoding: "utf8" } as const;
    const { status, signal, stderr } = spawnSync(process.execPath, childArguments(), options);
    wasKilled = signal === "SIGKILL";
    if (!wasKilled) expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
    await syncIndex({ folder, index });
    expect(contentsOf(index)).toEqual(expected);
  }
  expect(call).toBeGreaterThan(20);
});

it("an index that four processes make at once is the one that one process makes", async () => {
  const expected = await reference();
  const index = join(scratch.folder, "shared.db");
  const children = Array.from({ length: 4 }, () => {
    const child = spawn(process.execPath, childArguments(), { env: {}, stdio: ["pipe", "ignore", "pipe"] });
    child.stdin.end(JSON.stringify({ folder, index } satisfies SyncRequest));
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    return once(child, "close").then(([status]) => ({ status, errors }));
  });
  expect(await Promise.all(children)).toEqual(children.map(() => ({ status: 0, errors: "" })));
  expect(contentsOf(index)).toEqual(expected);
});
