/** Waiting for a lane to be idle, and having it alone. */
import { describe, expect, it } from "vitest";
import { HarnessClosed } from "./errors.ts";
import { gate, letOthersRun, text, World } from "./testing/scripted.ts";

/** A harness whose run waits for its answer. */
async function running() {
  const asked = gate();
  const answer = gate();
  const world = new World(async () => {
    asked.open();
    await answer.opened;
    return text("late");
  }, text("next"));
  const { harness, session } = await world.boot();
  const run = harness.prompt("go");
  // Of a harness that a test closes.
  run.catch(() => undefined);
  await asked.opened;
  return { world, harness, session, run, answer };
}

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  await letOthersRun();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

const note = { role: "user", content: "note", timestamp: 1 } as const;

describe("waitForIdle", () => {
  it("resolves at once for a lane that runs nothing", async () => {
    const { harness } = await new World(text("x")).boot();
    await harness.waitForIdle();
  });

  it("resolves everybody together when the operation has ended", async () => {
    const { harness, run, answer } = await running();
    const waits = Promise.all([harness.waitForIdle(), harness.waitForIdle()]);
    expect(await isSettled(waits)).toBe(false);
    answer.open();
    await waits;
    expect((await run).ok).toBe(true);
  });

  it("stands behind what was called before it", async () => {
    const world = new World(text("x"));
    const { harness } = await world.boot();
    void harness.prompt("go");
    await harness.waitForIdle();
    expect(await harness.getLastResult()).toMatchObject({ outcome: "completed" });
  });

  it("stands behind what was called before it, also where somebody was waiting already", async () => {
    const answer = gate();
    const world = new World(async () => {
      await answer.opened;
      return text("x");
    });
    const { harness } = await world.boot();
    const seen: string[] = [];
    const note = (what: string) => () => {
      seen.push(what);
    };
    const before = harness.waitForIdle().then(note("asked before the prompt"));
    const run = harness.prompt("go").then(note("the run has ended"));
    const after = harness.waitForIdle().then(note("asked after the prompt"));
    const held = harness.runWhenIdle(note("alone"));
    await before;
    while (world.requests.length === 0) await Promise.resolve();
    expect(seen).toEqual(["asked before the prompt"]);
    answer.open();
    await Promise.all([run, after, held]);
    expect(seen.slice(1).sort()).toEqual(["alone", "asked after the prompt", "the run has ended"]);
  });

  it("waits for an operation that is open and undriven until somebody has ended it", async () => {
    const { world, harness } = await running();
    await harness.close();
    const second = await world.boot();
    const idle = second.harness.waitForIdle();
    expect(await isSettled(idle)).toBe(false);
    await second.harness.abort();
    await idle;
    expect(await second.harness.getLastResult()).toMatchObject({ outcome: "aborted" });
  });

  it("rejects when the harness is closed, under it and after it", async () => {
    const { harness } = await running();
    const idle = harness.waitForIdle();
    idle.catch(() => undefined);
    await harness.close();
    await expect(idle).rejects.toBeInstanceOf(HarnessClosed);
    await expect(harness.waitForIdle()).rejects.toBeInstanceOf(HarnessClosed);
  });
});

describe("runWhenIdle", () => {
  it("has the lane alone: prompts and tree writes wait, the next run is still admitted", async () => {
    const { world, harness, session, run, answer } = await running();
    const entered = gate();
    const leave = gate();
    const held = harness.runWhenIdle(async () => {
      entered.open();
      await leave.opened;
    });
    answer.open();
    await entered.opened;
    await run;
    const { commitCount } = world;
    const prompt = harness.prompt("again");
    const write = session.appendMessage(note);
    const compaction = harness.compact();
    expect(await isSettled(Promise.race([prompt, write, compaction]))).toBe(false);
    expect(world.commitCount).toBe(commitCount);
    expect(await harness.nextRun("later")).toMatchObject({ ok: true });
    leave.open();
    await held;
    expect(await prompt).toMatchObject({ ok: true });
    expect(await write).toEqual(expect.any(String));
    expect((await compaction).ok).toBe(false);
  });

  it("runs one callback after the other, in their order", async () => {
    const { harness } = await new World(text("x")).boot();
    const order: string[] = [];
    const first = gate();
    const one = harness.runWhenIdle(async () => {
      order.push("one begins");
      await first.opened;
      order.push("one ends");
    });
    const two = harness.runWhenIdle(() => {
      order.push("two");
    });
    expect(await isSettled(two)).toBe(false);
    first.open();
    await Promise.all([one, two]);
    expect(order).toEqual(["one begins", "one ends", "two"]);
  });

  it("rejects as its callback does, and lets the lane go", async () => {
    const { harness } = await new World(text("x")).boot();
    const failing = harness.runWhenIdle(() => Promise.reject(new Error("mine")));
    await expect(failing).rejects.toThrow("mine");
    expect(await harness.prompt("go")).toMatchObject({ ok: true });
  });

  it("is rejected by a close if it has not begun; a callback that runs is waited for", async () => {
    const { harness } = await new World(text("x")).boot();
    const entered = gate();
    const leave = gate();
    const running = harness.runWhenIdle(async () => {
      entered.open();
      await leave.opened;
    });
    await entered.opened;
    const waiting = harness.runWhenIdle(() => undefined);
    const prompt = harness.prompt("go");
    waiting.catch(() => undefined);
    const closed = harness.close();
    expect(await isSettled(closed)).toBe(false);
    await expect(waiting).rejects.toBeInstanceOf(HarnessClosed);
    expect(await prompt).toMatchObject({ ok: false, error: { _tag: "Closed" } });
    leave.open();
    await Promise.all([closed, running]);
  });
});
