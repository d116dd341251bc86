/** A cancellation against what it may come before or after: settlements, starts, results, the end. */
import { describe, expect, it } from "vitest";
import type { TelemetryContext } from "./telemetry.ts";
import { said } from "./testing/answers.ts";
import { listening, RESULT } from "./testing/listening.ts";
import { calls, gate, inWords, letOthersRun, text, World } from "./testing/scripted.ts";
import { stepTo } from "./testing/stepping.ts";

/** A context that keeps the names of the spans. */
function spanNames(names: string[]): TelemetryContext {
  const context: TelemetryContext = {
    start: (name) => {
      names.push(name);
      return { ...context, end: () => undefined };
    },
  };
  return context;
}

describe("abort × settlement of a response", () => {
  const atSettlement = async () => {
    const world = new World(text("answer"));
    const { harness } = await world.boot({ drive: "manual" });
    const run = harness.prompt("go");
    await stepTo(harness, "commit_settlement");
    return { world, harness, run };
  };

  it("abort first: stored as aborted, and the reason is kept in words", async () => {
    const { world, harness, run } = await atSettlement();
    await harness.abort();
    await harness.runToCompletion();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(said(world)).toEqual(["go", "assistant aborted"]);
    expect(JSON.stringify(world.disk.dump().entries.at(-1))).toContain("the provider had answered stop");
  });

  it("settlement first: its stop reason stays, and the run is aborted behind it", async () => {
    const { world, harness, run } = await atSettlement();
    await harness.executeAction();
    await harness.abort();
    await harness.runToCompletion();
    expect(await run).toMatchObject({
      ok: true,
      value: { kind: "aborted", finalMessage: { stopReason: "stop" } },
    });
    expect(said(world)).toEqual(["go", "assistant stop"]);
  });
});

describe("abort × start of an effect", () => {
  it.each([
    ["a request", "provider_request", ["go", "assistant aborted"]],
    ["a call", "tool_execution", ["go", "assistant toolUse", expect.stringContaining("was not executed")]],
  ] as const)("abort first: %s that is parked is not started", async (_name, kind, left) => {
    const world = new World(calls({ id: "c1", name: "a" }));
    const { harness } = await world.boot({ drive: "manual", tools: [world.tool("a")] });
    const run = harness.prompt("go");
    await stepTo(harness, kind);
    const { length: requests } = world.requests;
    await harness.abort();
    await harness.runToCompletion();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(world.requests).toHaveLength(requests);
    expect(world.executions).toEqual([]);
    expect(said(world)).toEqual(left);
  });

  it.each(["request_intended", "tool_cleared", "generation_started"])(
    "abort first: the intent that is parked is not committed (%s)",
    async (event) => {
      const world = new World(calls({ id: "c1", name: "a" }));
      const { harness } = await world.boot({ drive: "manual", tools: [world.tool("a")] });
      const run = harness.prompt("go");
      await stepTo(harness, "commit_transition", event);
      await harness.abort();
      const { commitCount } = world;
      await harness.executeAction();
      expect(world.commitCount).toBe(commitCount);
      await harness.runToCompletion();
      expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
      expect(world.executions).toEqual([]);
    },
  );

  it("abort while the application computes what a request or a call needs: neither is made", async () => {
    const computing = gate();
    const computed = gate();
    const slow = async () => {
      computing.open();
      await computed.opened;
    };
    const asking = new World(text("never"));
    const models = { ...asking.models(), streamSimple: () => expect.fail("the provider heard of it") };
    const request = await asking.boot({ models, systemPrompt: () => slow().then(() => "be kind") });
    const asked = request.harness.prompt("go");
    await computing.opened;
    await request.harness.abort();
    const calling = new World(calls({ id: "c1", name: "a" }));
    const tools = [calling.tool("a")] as never;
    const spans: string[] = [];
    const telemetryContext = spanNames(spans);
    const options = { tools, toolContext: () => slow().then(() => ({})), telemetryContext } as never;
    const call = await calling.boot(options);
    const { words } = await listening(call.harness);
    const called = call.harness.prompt("go");
    while (!calling.commits.some((writes) => writes.map(inWords).includes("set op.tool_args"))) {
      await Promise.resolve();
    }
    await letOthersRun();
    await call.harness.abort();
    computed.open();
    expect(await asked).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(await called).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(JSON.stringify(asking.disk.dump().entries.at(-1))).toContain("before the request was sent");
    expect(calling.executions).toEqual([]);
    expect(said(calling).at(-1)).toContain("was not executed");
    // Nothing was executed, so no execution is told of: neither to listeners nor to telemetry.
    expect(words.filter((word) => word.startsWith("tool_"))).toEqual([]);
    expect(words.slice(-5)).toEqual([...RESULT, "turn_end", "run_end aborted"]);
    expect(spans).toContain("pi.ai.request");
    expect(spans).not.toContain("pi.harness.tool");
  });

  it("a call whose start is parked is not told of as executed", async () => {
    const world = new World(calls({ id: "c1", name: "a" }));
    const { harness } = await world.boot({ drive: "manual", tools: [world.tool("a")] });
    const { words } = await listening(harness);
    const run = harness.prompt("go");
    await stepTo(harness, "tool_execution");
    await harness.abort();
    await harness.runToCompletion();
    await run;
    expect(words.slice(-5)).toEqual([...RESULT, "turn_end", "run_end aborted"]);
    expect(words.filter((word) => word.startsWith("tool_"))).toEqual([]);
  });

  it("a call that is to run again after a crash is not, and counts as interrupted", async () => {
    const world = new World(calls({ id: "c1", name: "a" }));
    const tools = [world.tool("a", { replay: "safe" })];
    const first = await world.boot({ drive: "manual", tools });
    void first.harness.prompt("go").catch(() => undefined);
    await stepTo(first.harness, "tool_execution");
    await first.harness.close();
    const { harness } = await world.boot({ drive: "manual", tools });
    const run = harness.resume();
    await stepTo(harness, "tool_execution");
    await harness.abort();
    await harness.runToCompletion();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(world.executions).toEqual([]);
    expect(said(world).at(-1)).toContain("was interrupted");
  });
});

describe("abort × the commit of a result", () => {
  const atResult = async () => {
    const world = new World(calls({ id: "c1", name: "a" }), text("done"));
    const { harness } = await world.boot({ drive: "manual", tools: [world.tool("a")] });
    const run = harness.prompt("go");
    await stepTo(harness, "commit_settlement", "tool:");
    return { world, harness, run };
  };

  it.each(["first", "second"])(
    "abort %s: the real result stands, and nothing is asked any more",
    async (order) => {
      const { world, harness, run } = await atResult();
      if (order === "second") await harness.executeAction();
      await harness.abort();
      await harness.runToCompletion();
      expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
      expect(said(world)).toEqual(["go", "assistant toolUse", "c1 a done"]);
      expect(world.requests).toHaveLength(1);
    },
  );
});

describe("abort × the end", () => {
  it.each([
    ["first", "aborted"],
    ["second", "completed"],
  ] as const)("abort %s: the run is %s", async (order, kind) => {
    const world = new World(text("answer"));
    const { harness } = await world.boot({ drive: "manual" });
    const run = harness.prompt("go");
    await stepTo(harness, "commit_terminal");
    if (order === "second") await harness.executeAction();
    const aborted = await harness.abort();
    expect(aborted.ok).toBe(order === "first");
    await harness.runToCompletion();
    expect(await run).toMatchObject({ ok: true, value: { kind } });
  });
});
