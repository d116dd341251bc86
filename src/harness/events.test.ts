/** What events hold, and how they are delivered; their order is in `event-order.test.ts`, watchers in `watch.test.ts`. */
import { describe, expect, it } from "vitest";
import type { HarnessEvent } from "./event-types.ts";
import { listening, PROMPT, RESPONSE, RESULT } from "./testing/listening.ts";
import { calls, failure, gate, HANDLE, MODEL, text, tokens, World } from "./testing/scripted.ts";

describe("the events of a run", () => {
  it("are nested: run, turn, response, tools, results", async () => {
    const world = new World(calls({ id: "c1", name: "read" }, { id: "c2", name: "read" }), text("done"));
    const tools = [
      world.tool("read", {
        executionMode: "sequential",
        execute: async (_id, _args, _signal, onUpdate) => {
          onUpdate?.({ details: { half: true } });
          return { content: [{ type: "text", text: "ok" }], details: {} };
        },
      }),
    ];
    const { harness } = await world.boot({ tools });
    const { words, events } = await listening(harness);
    await harness.prompt("go");
    const call = (id: string) => [`tool_start ${id}`, `tool_update ${id}`, `tool_end ${id}`, ...RESULT];
    expect(words).toEqual([
      ...PROMPT,
      "turn_start",
      ...RESPONSE,
      ...call("c1"),
      ...call("c2"),
      "turn_end",
      "turn_start",
      ...RESPONSE,
      "turn_end",
      "run_end completed",
    ]);
    const turn = events.find((event) => event.type === "turn_end");
    expect(turn).toMatchObject({
      message: { stopReason: "toolUse" },
      toolResults: [{ toolCallId: "c1" }, { toolCallId: "c2" }],
    });
    const added = events.flatMap((event) => (event.type === "entry_added" ? [event.entry.id] : []));
    expect(added).toEqual(world.disk.dump().entries.map(({ id }) => id));
    const booked = events.flatMap((event) => (event.type === "usage" ? [event.totals.totalTokens] : []));
    expect(booked.at(-1)).toBe(world.disk.dump().stats.usage.totalTokens);
  });

  it("tell of retries, and of nothing where the first attempt is right", async () => {
    const world = new World([failure("overloaded"), failure("overloaded"), text("hello")]);
    const retry = { enabled: true, maxRetries: 2, baseDelayMs: 100 };
    const { harness } = await world.boot({ retry });
    const { words, events } = await listening(harness);
    await harness.prompt("go");
    expect(words).toEqual([
      ...PROMPT,
      "turn_start",
      ...RESPONSE,
      "retry_scheduled",
      "retry_start",
      ...RESPONSE,
      "retry_scheduled",
      "retry_start",
      ...RESPONSE,
      "retry_end",
      "turn_end",
      "run_end completed",
    ]);
    expect(events.filter(({ type }) => type === "retry_scheduled")).toMatchObject([
      { attempt: 2, maxAttempts: 3, delayMs: 100, errorMessage: "overloaded" },
      { attempt: 3, delayMs: 200 },
    ]);
    expect(events.find(({ type }) => type === "retry_end")).toMatchObject({ attempt: 3, success: true });
  });

  it("end a turn with a deferred answer, and have one for each poll", async () => {
    const world = new World({ stopReason: "deferred", deferred: HANDLE });
    const answers = [
      { stopReason: "deferred" as const, deferred: HANDLE },
      calls({ id: "c1", name: "read" }),
    ];
    const models = {
      ...world.models(),
      fetchDeferred: async () => ({
        role: "assistant" as const,
        ...{
          content: [],
          api: MODEL.api,
          provider: MODEL.provider,
          model: MODEL.id,
          stopReason: "stop" as const,
        },
        usage: tokens(1, 1),
        timestamp: world.clock.now(),
        ...answers.shift(),
      }),
    };
    const terminating = world.tool("read", { execute: async () => ({ details: {}, terminate: true }) });
    const { harness } = await world.boot({ models, tools: [terminating] });
    const { words, events } = await listening(harness);
    await harness.prompt("go");
    await harness.resume();
    await harness.resume();
    expect(words).toEqual([
      ...[...PROMPT, "turn_start", ...RESPONSE, "turn_end", "run_suspend"],
      ...["run_resume", "turn_start", ...RESPONSE, "turn_end", "run_suspend"],
      ...["run_resume", "turn_start", ...RESPONSE, "tool_start c1", "tool_end c1", ...RESULT, "turn_end"],
      "run_end completed",
    ]);
    const turns = events.flatMap((event) => (event.type === "turn_start" ? [event.turnId] : []));
    expect(turns).toEqual([turns[0], `${turns[0]}:poll:1`, `${turns[0]}:poll:2`]);
  });

  it("tell of queues, of what is placed from them, and of what an abort drains", async () => {
    const opened = gate();
    const world = new World(async () => {
      await opened.opened;
      return text("hello");
    }, text("again"));
    const { harness, session } = await world.boot();
    const { words, events } = await listening(harness);
    const run = harness.prompt("go");
    while (world.requests.length === 0) await Promise.resolve();
    await harness.steer("turn left");
    await session.appendCustomEntry("note", 1);
    await harness.abort();
    opened.open();
    await run;
    expect(words.slice(PROMPT.length)).toEqual([
      "turn_start",
      "queue_update",
      "write_pending",
      "queue_update",
      "run_abort",
      ...RESPONSE,
      "turn_end",
      "entry_added custom",
      "run_end aborted",
    ]);
    expect(events.find(({ type }) => type === "run_abort")).toMatchObject({
      steer: [{ role: "user" }],
      followUp: [],
    });
  });
});

describe("the events of settings", () => {
  it("tell of settings, facts, lanes and adjustments", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const { words, events } = await listening(harness);
    await harness.setThinkingLevel("high");
    await harness.setActiveTools(["read"]);
    await harness.setRetryPolicy({ enabled: true, maxRetries: 1, baseDelayMs: 1 });
    await harness.session.setName("a name");
    await harness.session.setCustomFact("key", null);
    await harness.createLane("side", null);
    await harness.recordUsage(tokens(1, 2));
    expect(words).toEqual([
      "config_update thinkingLevel",
      "config_update activeTools",
      "config_update retryPolicy",
      "fact_update",
      "fact_update",
      "lane_created",
      "usage",
    ]);
    expect(events[0]).toMatchObject({ lane: "main", value: "high", previous: "off" });
    expect(events[2]).not.toHaveProperty("lane");
    expect(events[5]).toMatchObject({ lane: "side", at: null });
    expect(events[6]).toMatchObject({ lane: "main", row: { adjustment: true }, totals: { totalTokens: 3 } });
  });
});

describe("listeners", () => {
  it("change nothing: not by throwing, and not by what they do to an event", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const errors: HarnessEvent[] = [];
    harness.events.on("handler_error", (event) => {
      errors.push(event);
      throw new Error("and again");
    });
    harness.events.on("entry_added", () => {
      throw new Error("no");
    });
    harness.events.on("message_end", (event) => {
      expect(() => Object.assign(event, { message: null })).toThrow();
      return Promise.reject(new Error("later"));
    });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    await Promise.resolve();
    expect(errors).toMatchObject([
      { kind: "event", event: "entry_added", error: "no", lane: "main" },
      { event: "message_end", error: "later" },
      { event: "message_end" },
      { event: "entry_added" },
    ]);
  });

  it("see events in order, also those that they cause, until they are taken back", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const seen: string[] = [];
    const stop = harness.events.on("config_update", (event) => {
      seen.push(event.property);
      if (event.property === "steeringMode") harness.setFollowUpMode("all");
    });
    harness.events.on("config_update", (event) => {
      seen.push(`second ${event.property}`);
    });
    await harness.setSteeringMode("all");
    expect(seen).toEqual(["steeringMode", "second steeringMode", "followUpMode", "second followUpMode"]);
    stop();
    await harness.setSteeringMode("one-at-a-time");
    expect(seen.at(-1)).toBe("second steeringMode");
    expect(seen).toHaveLength(5);
  });

  it("learn of a fault", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const faults: HarnessEvent[] = [];
    harness.events.on("fault", (event) => {
      faults.push(event);
    });
    world.death = { commit: world.commitCount, position: "before" };
    await expect(harness.prompt("go")).rejects.toThrow("the process died");
    expect(faults).toMatchObject([
      { code: "HARNESS_FAULT", message: expect.stringContaining("the process died") },
    ]);
  });
});
