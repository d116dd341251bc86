/**
 * A hook starts like every effect: not after a cancellation that is durable, and once for what it is asked about. Both
 * orders of each, stepped; and what a run that drives itself does with an abort in the same moment.
 */
import { describe, expect, it } from "vitest";
import type { Models } from "../model/index.ts";
import type { AgentHarness } from "./agent-harness.ts";
import type { HookName } from "./hooks.ts";
import { hooked } from "./testing/hooked.ts";
import { type Answer, calls, HANDLE, MODEL, text, tokens, World } from "./testing/scripted.ts";

type OperationHook = Exclude<HookName, "before_run">;

interface Asked {
  readonly turns: readonly Answer[];
  /** What carries the operation to the hook; a prompt if absent. */
  readonly begin?: (harness: AgentHarness, oldestEntryId: string) => Promise<unknown>;
  /** An operation of a lost process that is open then. */
  readonly isResumed?: true;
  readonly models?: (world: World) => Models;
  readonly answer?: object;
}

const one = calls({ id: "c1", name: "read" });
const user = { role: "user", content: "long ".repeat(40), timestamp: 1 } as const;

/** What leads to each hook. */
const ASKED: Record<OperationHook, Asked> = {
  before_resume: { turns: [text("never")], isResumed: true, begin: (harness) => harness.resume() },
  before_request: { turns: [text("never")] },
  transform_context: { turns: [text("never")] },
  before_payload: { turns: [text("never")] },
  after_response: { turns: [text("said")] },
  before_tool: { turns: [one, text("never")] },
  after_tool: { turns: [one, text("never")], answer: { terminate: true, details: { hooked: true } } },
  before_run_end: { turns: [text("said"), text("never")], answer: { followUp: "more" } },
  before_compaction: { turns: [], begin: (harness) => harness.compact(), answer: { decline: true } },
  before_navigation: {
    turns: [],
    begin: (harness, oldestEntryId) => harness.navigateTree(oldestEntryId, { summarize: true }),
    answer: { decline: true },
  },
};

async function parkedAt(name: OperationHook) {
  const { turns, begin, isResumed, answer } = ASKED[name];
  const world = new World(...turns);
  const options = {
    drive: "manual",
    tools: [world.tool("read")],
    compaction: { enabled: true, reserveTokens: 10, keepRecentTokens: 1 },
  } as const;
  if (isResumed) {
    const first = await world.boot(options);
    void first.harness.prompt("go").catch(() => undefined);
    await first.harness.executeAction();
    await first.harness.close();
  }
  const { harness } = await world.boot(options);
  const said: string[] = [];
  if (turns.length === 0) for (let i = 0; i < 3; i++) said.push(await harness.session.appendMessage(user));
  let asked = 0;
  harness.hooks.on(
    name,
    () => {
      asked++;
      return answer as never;
    },
    { id: "counting" },
  );
  const outcome = begin ? begin(harness, said[0] ?? "") : harness.prompt("go");
  for (let steps = 0; ; steps++) {
    const next = await harness.peekAction();
    if (next === undefined || steps > 50) throw new Error(`${name} is never asked`);
    if (next.kind === "hook") break;
    await harness.executeAction();
  }
  return { world, harness, outcome, asked: () => asked };
}

const names = Object.keys(ASKED) as OperationHook[];

describe("abort × the start of a hook", () => {
  it.each(names)("abort first: %s is not asked", async (name) => {
    const { world, harness, outcome, asked } = await parkedAt(name);
    const { length: requests } = world.requests;
    await harness.abort();
    // What was parked is taken back, and what comes next is what is owed.
    expect((await harness.peekAction())?.kind).not.toBe("hook");
    await harness.runToCompletion();
    expect(await outcome).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(asked()).toBe(0);
    expect(world.requests).toHaveLength(requests);
    expect(world.disk.dump().entries.filter((entry) => "terminate" in entry && entry.terminate)).toEqual([]);
  });

  it.each(names)("hook first: %s is let finish, and not asked again", async (name) => {
    const { world, harness, outcome, asked } = await parkedAt(name);
    await harness.executeAction();
    expect(asked()).toBe(1);
    const { length: executions } = world.executions;
    await harness.abort();
    await harness.runToCompletion();
    expect(await outcome).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(asked()).toBe(1);
    expect(world.executions).toHaveLength(executions);
  });

  it("hook first: what after_tool made of the result stands, its wish to end included", async () => {
    const { world, harness, outcome } = await parkedAt("after_tool");
    await harness.executeAction();
    await harness.abort();
    await harness.runToCompletion();
    await outcome;
    expect(world.disk.dump().entries.at(-1)).toMatchObject({
      terminate: true,
      message: { role: "toolResult", details: { hooked: true }, content: [{ text: "read done" }] },
    });
  });

  it.each([
    ["before_request", "user"],
    ["before_tool", "assistant"],
    ["before_run_end", "assistant"],
  ] as const)(
    "abort in the moment before %s: it is not asked by a run that drives itself",
    async (name, role) => {
      const world = new World(...(name === "before_tool" ? [one] : [text("said")]));
      const { harness } = await world.boot({ tools: [world.tool("read")] });
      let asked = 0;
      harness.hooks.on(name, () => {
        asked++;
      });
      harness.events.on("entry_added", ({ entry }) => {
        if (entry.type === "message" && entry.message.role === role) void harness.abort();
      });
      expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "aborted" } });
      expect(asked).toBe(0);
      expect(world.executions).toEqual([]);
    },
  );

  it("a resumed operation that is cancelled asks no before_resume: nothing will start that it could prepare", async () => {
    const { harness, outcome, world } = await parkedAt("before_request");
    await harness.abort();
    await harness.close();
    await outcome.catch(() => undefined);
    const next = await world.boot();
    let asked = 0;
    next.harness.hooks.on(
      "before_resume",
      () => {
        asked++;
      },
      { id: "counting" },
    );
    expect(await next.harness.resume()).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(asked).toBe(0);
  });
});

describe("input that is queued while a hook is asked is carried along, and the hook is not asked again", () => {
  it("before a request and before a call", async () => {
    const world = new World(one, text("done"), text("and that"));
    const { harness } = await world.boot({ tools: [world.tool("read")] });
    const asked: string[] = [];
    harness.hooks.on("before_request", async ({ attempt }) => {
      asked.push(`request ${attempt}`);
      if (asked.length === 1) await harness.followUp("more");
    });
    harness.hooks.on("before_tool", async ({ toolCallId }) => {
      asked.push(toolCallId);
      await harness.session.appendCustomEntry("note", 1);
    });
    expect(await harness.prompt("go")).toMatchObject({
      ok: true,
      value: { kind: "completed", finalMessage: { content: [{ text: "and that" }] } },
    });
    expect(asked).toEqual(["request 1", "c1", "request 1", "request 1"]);
    expect(world.requests).toHaveLength(3);
    expect(world.disk.dump().entries.some(({ type }) => type === "custom")).toBe(true);
  });

  it("before a poll", async () => {
    const world = new World({ stopReason: "deferred", deferred: HANDLE }, text("and that"));
    const origin = { api: MODEL.api, provider: MODEL.provider, model: MODEL.id };
    const models: Models = {
      ...world.models(),
      fetchDeferred: async () => ({
        role: "assistant",
        content: [{ type: "text", text: "ready" }],
        ...origin,
        usage: tokens(0, 1),
        stopReason: "stop",
        timestamp: 1,
      }),
    };
    const { harness } = await world.boot({ models });
    await harness.prompt("go");
    const asked: string[] = [];
    harness.hooks.on("before_request", async ({ step }) => {
      asked.push(step);
      if (step === "deferred") await harness.steer("more");
    });
    expect(await harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(asked).toEqual(["deferred", "assistant"]);
  });
});

it("each pipeline is one action of manual drive, and none where there is no handler", async () => {
  const world = new World(calls({ id: "c1", name: "read" }), text("done"));
  const { harness, hooks } = await hooked(world, { drive: "manual", tools: [world.tool("read")] });
  const names: HookName[] = [
    "before_run",
    "transform_context",
    "before_request",
    "after_response",
    "before_tool",
    "after_tool",
    "before_run_end",
  ];
  const ran: string[] = [];
  for (const name of names) {
    hooks.on(
      name,
      () => {
        ran.push(name);
      },
      { id: "1" },
    );
    hooks.on(
      name,
      () => {
        ran.push(name);
      },
      { id: "2" },
    );
  }
  const run = harness.prompt("go");
  const parked: string[] = [];
  for (;;) {
    const action = await harness.peekAction();
    if (action === undefined) break;
    const before = ran.length;
    await Promise.resolve();
    expect(ran.length).toBe(before);
    if (action.kind === "hook") parked.push(String((action.details as { hook?: unknown }).hook));
    await harness.executeAction();
  }
  await run;
  const request = ["before_request", "transform_context", "after_response"];
  expect(parked).toEqual([
    "before_run",
    ...request,
    "before_tool",
    "after_tool",
    ...request,
    "before_run_end",
  ]);
  expect(ran).toEqual(parked.flatMap((name) => [name, name]));
});
