import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CutRef, parseCut, readLedger, type Scenario } from "../faults/index.ts";
import { RealClock } from "../foundation/index.ts";
import { type ChildProgram, childProgram } from "./bundle.ts";
import type { KillOutcome } from "./outcome.ts";
import { KillPool, type KillPoolOptions } from "./pool.ts";
import { diskFolderOf, type KillRequest, ledgerPathOf } from "./protocol.ts";
import { openScratch, type Scratch } from "./scratch.ts";
import { notebook } from "./test-subject.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

let program: ChildProgram;
let scratch: Scratch;
let pools: KillPool[];
beforeAll(async () => {
  program = await childProgram({ entry: join(here, "test-child-program.ts") });
});
beforeEach(() => {
  scratch = openScratch();
  pools = [];
});
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  scratch.remove();
});

function pool(options: Partial<KillPoolOptions> = {}): KillPool {
  const made = new KillPool({ program, clock: new RealClock(), ...options });
  pools.push(made);
  return made;
}

const prompts = (...texts: string[]): Scenario => ({
  name: "notes",
  title: "notes",
  settings: {},
  tools: [],
  turns: texts.map((text) => [
    { text: `${text}!`, stopReason: "stop" as const, usage: { input: 1, output: 2 } },
  ]),
  stimuli: texts.map((text) => ({ call: "prompt" as const, text })),
});
const twoNotes = prompts("one", "two");

function cut(name: string): CutRef {
  const parsed = parseCut(name);
  if (parsed === undefined) throw new Error(name);
  return parsed;
}

let folderCount = 0;
const request = (name: string, scenario = twoNotes, subject = "notebook"): KillRequest => ({
  subject,
  scenario,
  seed: 1,
  cut: cut(name),
  folder: join(scratch.folder, String(folderCount++)),
});

async function all(outcomes: AsyncIterable<KillOutcome>): Promise<KillOutcome[]> {
  const list: KillOutcome[] = [];
  for await (const outcome of outcomes) list.push(outcome);
  return list;
}

/** What a survivor holds: its notes and its world's rows. */
async function survivor({ folder }: KillRequest): Promise<{ notes: string; requests: number }> {
  const subject = notebook("notebook");
  const disk = subject.attach(diskFolderOf(folder));
  if (disk === undefined) throw new Error("nothing was left");
  const { exact } = await subject.view(disk, { downtimes: [] });
  return { notes: exact, requests: readLedger(ledgerPathOf(folder)).length };
}

const signatures = (outcomes: readonly KillOutcome[]): string[] =>
  outcomes.map((outcome) => (outcome.kind === "killed" ? "killed" : outcome.doubt.signature));

describe("a real kill", () => {
  const cases: [string, string, number][] = [
    ["note.ask#1:before", "", 0],
    ["note.ask#1:inside@1", "n", 0],
    ["note.ask#1:inside@3", "not", 0],
    ["note.ask#1:after", "note.ask one\n", 0],
    ["provider.request#1:before", "note.ask one\n", 0],
    ["provider.request#1:inside", "note.ask one\n", 1],
    ["provider.request#1:after", "note.ask one\n", 1],
    ["note.answer#1:before", "note.ask one\n", 1],
    ["note.answer#1:inside@5", "note.ask one\nnote.", 1],
    ["note.answer#2:after", "note.ask one\nnote.answer one!\nnote.ask two\nnote.answer two!\n", 2],
  ];

  it("leaves exactly what stood at each cut, many cuts with one kill", async () => {
    const tested = pool({ childCount: 1 });
    const requests = cases.map(([name]) => request(name));
    expect(signatures(await all(tested.kill(requests)))).toEqual(cases.map(() => "killed"));
    for (const [index, [, notes, count]] of cases.entries()) {
      expect(await survivor(requests[index] as KillRequest)).toEqual({ notes, requests: count });
    }
    expect(tested.counts).toEqual({ states: cases.length, kills: 1 });
  });

  it("has one outcome for each request, over as many children as it takes", async () => {
    const tested = pool({ sessionsPerChild: 3 });
    tested.warm();
    const requests = cases.map(([name]) => request(name));
    const outcomes = await all(tested.kill(requests));
    expect(new Set(outcomes.map((outcome) => outcome.request))).toEqual(new Set(requests));
    expect(tested.counts).toEqual({ states: cases.length, kills: Math.ceil(cases.length / 3) });
  });

  it("is in doubt at a boundary that the run does not have", async () => {
    const names = ["note.ask#3:before", "other#1:after", "note.ask#1:inside", "provider.request#1:inside@2"];
    const outcomes = await all(pool().kill(names.map((name) => request(name))));
    expect(signatures(outcomes).sort()).toEqual(["no-such-cut", "no-such-cut", "unreached", "unreached"]);
  });

  it("is in doubt, and never taken for done, when the session throws, hangs, or is not known", async () => {
    const tested = pool({ walkLimitMs: 2_000 });
    const outcomes = await all(
      tested.kill([
        request("note.ask#1:before", prompts("throw")),
        request("note.ask#1:before", prompts("hang")),
        request("note.ask#1:before", twoNotes, "stranger"),
        request("note.ask#1:before"),
      ]),
    );
    expect(signatures(outcomes)).toEqual(["refused:Error", "stalled", "unknown-subject", "killed"]);
  });

  it("loses only the session that takes its child down, and keeps its last words", async () => {
    const tested = pool({ childCount: 1 });
    const requests = ["one", "exit", "two"].map((text) => request("note.ask#1:before", prompts(text)));
    const outcomes = await all(tested.kill(requests));
    const byRequest = new Map(outcomes.map((outcome) => [outcome.request, outcome]));
    expect(signatures(requests.flatMap((item) => byRequest.get(item) ?? []))).toEqual([
      "killed",
      "child-died",
      "killed",
    ]);
    expect(tested.counts).toEqual({ states: 2, kills: 1 });
  });

  it("ends a session that never lets go, and says that it fell silent", async () => {
    const tested = pool({ silenceLimitMs: 3_000 });
    const requests = [request("note.ask#1:before", prompts("spin")), request("note.ask#1:after")];
    expect(signatures(await all(tested.kill(requests))).sort()).toEqual(["child-silent", "killed"]);
  });

  it("is in doubt when the child cannot even start", async () => {
    const broken = pool({ program: { ...program, program: join(here, "no-such-program.cjs") } });
    const [outcome] = await all(broken.kill([request("note.ask#1:before")]));
    expect(outcome?.kind === "inconclusive" && outcome.doubt).toMatchObject({
      signature: "child-not-started",
      message: expect.stringContaining("no-such-program.cjs"),
    });
  });

  it("starts from a clean folder, whatever stands there", async () => {
    const tested = pool();
    const first = request("note.answer#2:after");
    await all(tested.kill([first]));
    const again = { ...first, cut: cut("note.ask#1:after") };
    await all(tested.kill([again]));
    expect(await survivor(again)).toEqual({ notes: "note.ask one\n", requests: 0 });
  });
});

/** The process ids of all living children of a process, as Linux tells them. */
function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return text === "" ? [] : text.split(" ").map(Number);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilDead(pids: readonly number[]): Promise<void> {
  const clock = new RealClock();
  while (pids.some(isAlive)) await clock.sleep(20);
}

describe.runIf(process.platform === "linux")("no child is left", () => {
  it.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)("when the parent dies by %s", async (signal) => {
    const code = `
      const { KillPool } = await import(${JSON.stringify(join(here, "pool.ts"))});
      const { RealClock } = await import(${JSON.stringify(join(here, "../foundation/index.ts"))});
      const pool = new KillPool({ program: ${JSON.stringify(program)}, clock: new RealClock() });
      pool.warm();
      console.log("warm");
      setInterval(() => undefined, 1000);`;
    const parent = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code], {
      cwd: join(here, "../.."),
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(parent.stdout, "data");
    const children = childrenOf(parent.pid ?? 0);
    expect(children.length).toBeGreaterThanOrEqual(2);
    parent.kill(signal);
    await once(parent, "exit");
    await untilDead(children);
  });

  it("when the pool is closed, or its user stops listening", async () => {
    const others = childrenOf(process.pid);
    const tested = pool({ sessionsPerChild: 1 });
    tested.warm();
    for await (const outcome of tested.kill([request("note.ask#1:before"), request("note.ask#1:after")])) {
      expect(outcome.kind).toBe("killed");
      break;
    }
    const children = childrenOf(process.pid).filter((pid) => !others.includes(pid));
    expect(children).not.toEqual([]);
    await tested.close();
    expect(children.filter(isAlive)).toEqual([]);
  });
});
