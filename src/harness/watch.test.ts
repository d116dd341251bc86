/** What a watcher sees: a snapshot and everything after it, without a gap. */
import { describe, expect, it } from "vitest";
import type { HarnessEvent } from "./event-types.ts";
import { leaving } from "./testing/leaving.ts";
import { calls, gate, HANDLE, letOthersRun, text, tokens, World } from "./testing/scripted.ts";

describe("a watcher", () => {
  it("has everything exactly once, in the snapshot or after it, wherever it begins", async () => {
    const world = new World(calls({ id: "c1", name: "read" }), text("done"));
    const { harness } = await world.boot({ drive: "manual", tools: [world.tool("read")] });
    const run = harness.prompt("go");
    const handles = [await harness.watch()];
    while (await harness.executeAction()) handles.push(await harness.watch());
    await run;
    const all = world.disk.dump().entries.map(({ id }) => id);
    expect(handles.length).toBeGreaterThan(8);
    for (const { snapshot, start, unsubscribe } of handles) {
      const later: string[] = [];
      start((event) => {
        if (event.type === "entry_added") later.push(event.entry.id);
      });
      expect([...snapshot.transcript.map(({ id }) => id), ...later]).toEqual(all);
      unsubscribe();
    }
  });

  it("sees what this process is doing", async () => {
    const opened = gate();
    const world = new World(calls({ id: "c1", name: "slow", args: { path: "a" } }), text("done"));
    const slow = world.tool("slow", {
      execute: async (_id, _args, _signal, onUpdate) => {
        onUpdate?.({ details: { percent: 50 } });
        await opened.opened;
        return { details: {} };
      },
    });
    const { harness } = await world.boot({ tools: [slow] });
    const idle = await harness.watch();
    expect(idle.snapshot).toMatchObject({
      lane: "main",
      transcript: [],
      leafId: null,
      operation: null,
      faulted: false,
    });
    const run = harness.prompt("go");
    while (world.executions.length === 0) await Promise.resolve();
    await harness.followUp("and then?");
    await harness.nextRun("later");
    const { snapshot } = await harness.watch();
    expect(snapshot).toMatchObject({
      operation: {
        kind: "run",
        status: "running",
        runningTools: [
          {
            toolCallId: "c1",
            toolName: "slow",
            args: { path: "a" },
            partialResult: { details: { percent: 50 } },
          },
        ],
      },
      queues: {
        steer: [],
        followUp: [{ message: { role: "user" } }],
        nextRun: [{ message: { role: "user" } }],
      },
      pendingWrites: [],
    });
    expect(snapshot.operation).not.toHaveProperty("streamingMessage");
    opened.open();
    await run;
  });

  it.each([
    [
      "that cannot be copied",
      () => ({ details: { percent: 50, render: () => "half" } }),
      { details: { percent: 50 } },
    ],
    ["that no text can carry either", () => cyclic({ render: () => "half" }), null],
    ["that cannot be read", () => unreadable(), null],
  ])(
    "is shown progress %s as far as it can be, and the tool learns nothing of it",
    async (_what, report, shown) => {
      const opened = gate();
      const world = new World(calls({ id: "c1", name: "slow" }), text("done"));
      const slow = world.tool("slow", {
        execute: async (_id, _args, _signal, onUpdate) => {
          onUpdate?.(report() as never);
          await opened.opened;
          return { content: [{ type: "text", text: "whole" }], details: {} };
        },
      });
      const { harness } = await world.boot({ tools: [slow] });
      const told: unknown[] = [];
      harness.events.on("tool_update", ({ partialResult }) => {
        told.push(partialResult);
      });
      const run = harness.prompt("go");
      while (world.executions.length === 0) await Promise.resolve();
      const { snapshot } = await harness.watch();
      expect(snapshot.operation?.runningTools).toMatchObject([{ toolCallId: "c1", partialResult: shown }]);
      expect(told).toEqual([shown]);
      opened.open();
      expect(await run).toMatchObject({ ok: true, value: { kind: "completed" } });
      expect(JSON.stringify(world.disk.dump().entries)).toContain("whole");
    },
  );

  it("is told of a suspended operation, after a restart and in the process that suspended it", async () => {
    const world = new World({ stopReason: "deferred", deferred: HANDLE });
    const first = await world.boot();
    await first.harness.prompt("go");
    const suspended = {
      status: "suspended",
      suspended: { reason: "deferred", deferred: HANDLE, prompt: [{ role: "user" }] },
    };
    expect((await first.harness.watch()).snapshot.operation).toMatchObject(suspended);
    const second = await world.boot();
    expect((await second.harness.watch()).snapshot.operation).toMatchObject(suspended);
    expect((await second.harness.watchSession()).snapshot).toMatchObject({
      lanes: [{ name: "main", operation: { status: "suspended" }, suspended: { reason: "deferred" } }],
      faulted: false,
    });
  });

  it("sees a cancellation that is not through, without what it drained", async () => {
    const opened = gate();
    const world = new World(async () => {
      await opened.opened;
      return text("late");
    });
    const { harness } = await world.boot();
    const run = harness.prompt("go");
    while (world.requests.length === 0) await Promise.resolve();
    await harness.steer("left");
    await harness.abort();
    const { snapshot } = await harness.watch();
    expect(snapshot).toMatchObject({ operation: { status: "aborting" }, queues: { steer: [] } });
    expect(snapshot.operation).not.toHaveProperty("streamingMessage");
    expect(await harness.lanes()).toMatchObject([{ operation: { status: "aborting" } }]);
    opened.open();
    await run;
    expect(await harness.lanes()).toMatchObject([{ operation: null }]);
  });

  it("sees a fault that comes while it is shown the lane, and nobody is shown one after it", async () => {
    const world = new World(text("hello"));
    const { harness, session } = await world.boot();
    await harness.prompt("go");
    const side = await harness.createLane("side", null);
    if (!side.ok) throw side.error;
    const reading = gate();
    const scanBranch = session.scanBranch.bind(session);
    session.scanBranch = async (query) => {
      await reading.opened;
      return scanBranch(query);
    };
    const watching = harness.watch();
    world.death = { commit: world.commitCount, position: "before" };
    await expect(side.value.prompt("go")).rejects.toThrow("the process died");
    reading.open();
    expect((await watching).snapshot).toMatchObject({ lane: "main", faulted: true });
    await expect(harness.watch()).rejects.toThrow("faulted");
  });

  it("of a session sees each lane as it is when the events begin, also one that stopped while others were read", async () => {
    const opened = gate();
    const { harness, session, run, goOn } = await leaving((made) => made.createLane("side", null));
    const getRegister = session.getRegister.bind(session);
    session.getRegister = async (namespace, key) => {
      if (namespace === "lane.leaf" && key === "side") await opened.opened;
      return getRegister(namespace, key);
    };
    const watching = harness.watchSession();
    await letOthersRun();
    goOn.open();
    await run;
    opened.open();
    const [main] = (await watching).snapshot.lanes;
    expect(main).toMatchObject({ operation: { status: "suspended" }, suspended: { reason: "deferred" } });
  });

  it("of one lane sees nothing of another but its usage", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const made = await harness.createLane("side", null);
    if (!made.ok) throw made.error;
    const seen: HarnessEvent[] = [];
    (await harness.watch()).start((event) => {
      seen.push(event);
    });
    await made.value.prompt("go");
    await made.value.recordUsage(tokens(1, 1));
    expect(seen.map(({ type, lane }) => [type, lane])).toEqual([
      ["usage", "side"],
      ["usage", "side"],
    ]);
  });
});

/** A value that is within itself. */
function cyclic(value: Record<string, unknown>): object {
  value.self = value;
  return value;
}

function unreadable(): object {
  return {
    get details() {
      throw new Error("not now");
    },
  };
}
