import { describe, expect, it } from "vitest";
import { HarnessClosed } from "./errors.ts";
import { Lifecycle } from "./lifecycle.ts";
import { ManualGate } from "./manual-drive.ts";
import { type Answer, calls, failure, gate, text, World } from "./testing/scripted.ts";

const retry = { enabled: true, maxRetries: 2, baseDelayMs: 100 };
const SCENARIOS: Record<string, (Answer | Answer[])[]> = {
  "one answer": [text("hello")],
  "a retry": [[failure("overloaded"), text("hello")]],
  "tools, one of them refused": [
    calls({ id: "c1", name: "read" }, { id: "c2", name: "missing" }, { id: "c3", name: "write" }),
    text("done"),
  ],
};

const boot = (world: World, drive: "automatic" | "manual") =>
  world.boot({ drive, retry, tools: [world.tool("read"), world.tool("write")] });

describe("manual drive", () => {
  it.each(Object.entries(SCENARIOS))(
    "leaves the same durable state as automatic drive: %s",
    async (_name, turns) => {
      const automatic = new World(...turns);
      const manual = new World(...turns);
      await (await boot(automatic, "automatic")).harness.prompt("go");
      const { harness } = await boot(manual, "manual");
      const run = harness.prompt("go");
      await harness.runToCompletion();
      expect(await run).toMatchObject({ ok: true, value: { kind: "completed" } });
      expect(JSON.stringify(manual.disk.dump())).toBe(JSON.stringify(automatic.disk.dump()));
    },
  );

  it("shows one action at a time, in the order in which a process can die between them", async () => {
    const world = new World(calls({ id: "c1", name: "read" }), text("done"));
    const { harness } = await boot(world, "manual");
    const run = harness.prompt("go");
    const seen: string[] = [];
    for (;;) {
      const info = await harness.executeAction();
      if (info === undefined) break;
      seen.push(info.description);
      expect(JSON.parse(JSON.stringify(info))).toEqual(info);
    }
    await run;
    expect(seen).toEqual([
      "commit generation_started (run: checkpoint need_assistant)",
      "commit request_intended (run: assistant ready)",
      "ask acme/large, attempt 1",
      expect.stringMatching(/^settle assistant:.*\(run: assistant effect_pending\)$/),
      "commit tool_cleared (run: tools)",
      "execute read (c1)",
      expect.stringMatching(/^settle tool:.*\(run: tools\)$/),
      "commit generation_started (run: checkpoint need_assistant)",
      "commit request_intended (run: assistant ready)",
      "ask acme/large, attempt 1",
      expect.stringMatching(/^settle assistant:/),
      "end the operation as completed",
    ]);
  });

  it("has no effect while an action is parked, however often it is looked at", async () => {
    const world = new World(calls({ id: "c1", name: "read" }), text("done"));
    const { harness } = await boot(world, "manual");
    const run = harness.prompt("go");
    for (;;) {
      const before = world.log.length;
      const info = await harness.peekAction();
      expect(await harness.peekAction()).toBe(info);
      await new Promise((resolve) => setImmediate(resolve));
      // Only acceptance, which is never gated, may have happened since the last action.
      if (world.commitCount > 2) expect(world.log.length).toBe(before);
      if (info === undefined) break;
      await harness.executeAction();
    }
    expect((await run).ok).toBe(true);
  });

  it("parks the retry's sleep", async () => {
    const world = new World([failure("overloaded"), text("hello")]);
    const { harness } = await boot(world, "manual");
    const run = harness.prompt("go");
    const kinds: string[] = [];
    const start = world.clock.now();
    for (;;) {
      const info = await harness.peekAction();
      if (info === undefined) break;
      kinds.push(info.kind);
      if (info.kind === "sleep") expect(world.clock.now()).toBe(start);
      await harness.executeAction();
    }
    await run;
    expect(kinds.filter((kind) => kind === "sleep")).toHaveLength(1);
    expect(world.clock.now()).toBe(start + 100);
  });

  it("lets another action go while one that was released is still under way", async () => {
    const slow = gate();
    const world = new World(calls({ id: "c1", name: "slow" }, { id: "c2", name: "write" }), text("done"));
    const { harness } = await world.boot({
      drive: "manual",
      tools: [
        world.tool("slow", { execute: async () => slow.opened.then(() => ({ details: {} })) }),
        world.tool("write"),
      ],
    });
    const run = harness.prompt("go");
    const until = async (description: string) => {
      while ((await harness.peekAction())?.description !== description) await harness.executeAction();
    };
    await until("execute slow (c1)");
    const first = harness.executeAction();
    await until("execute write (c2)");
    await harness.executeAction();
    expect(world.executions).toEqual(["slow {}", "write {}"]);
    slow.open();
    await first;
    await harness.runToCompletion();
    expect((await run).ok).toBe(true);
  });

  it("rejects a parked action unexecuted when the harness closes, and keeps the committed prefix", async () => {
    const world = new World(text("hello"));
    const { harness } = await boot(world, "manual");
    const run = harness.prompt("go");
    run.catch(() => undefined);
    await harness.executeAction();
    await harness.executeAction();
    expect(await harness.peekAction()).toMatchObject({ kind: "provider_request" });
    const before = JSON.stringify(world.disk.dump());
    await harness.close();
    await expect(run).rejects.toBeInstanceOf(HarnessClosed);
    expect(await harness.peekAction()).toBeUndefined();
    expect(world.requests).toEqual([]);
    expect(JSON.stringify(world.disk.dump())).toBe(before);
  });

  it("releases in the order of arrival, and hands over to an effect within an effect", async () => {
    const parked = new ManualGate(new Lifecycle());
    const done: string[] = [];
    const action = (kind: string, effect: () => Promise<unknown> = async () => undefined) =>
      parked.pass({ kind, description: kind }, async () => {
        done.push(kind);
        await effect();
      });
    const outer = action("outer", () => action("inner"));
    const other = action("other");
    expect(await parked.execute()).toMatchObject({ kind: "outer" });
    expect(done).toEqual(["outer"]);
    expect(await parked.peek()).toMatchObject({ kind: "other" });
    await parked.execute();
    await parked.execute();
    await Promise.all([outer, other]);
    expect(done).toEqual(["outer", "other", "inner"]);
  });

  it("is asked for at creation", () => {
    const world = new World(text("hello"));
    return boot(world, "automatic").then(({ harness }) => {
      expect(() => harness.peekAction()).toThrow('drive: "manual"');
    });
  });
});
