/** Lanes, settings, registries, skills and templates, and what a caller books. */
import { describe, expect, it } from "vitest";
import { recognise, StoreModel } from "../checkers/index.ts";
import type { HarnessEvent } from "./event-types.ts";
import type { AgentLane } from "./main-lane.ts";
import { expandSkill, expandTemplate } from "./resources.ts";
import { calls, failure, letOthersRun, MODEL, text, tokens, World } from "./testing/scripted.ts";

describe("lanes", () => {
  it("are the same to an application, whether by name or as the harness itself", async () => {
    const { harness } = await new World(text("one"), text("two")).boot();
    const made = await harness.createLane("aside", null);
    const lanes: AgentLane[] = [harness, ...(made.ok ? [made.value] : [])];
    const ended = [];
    for (const lane of lanes) ended.push([lane.name, (await lane.prompt("go")).ok]);
    expect(ended).toEqual([
      ["main", true],
      ["aside", true],
    ]);
  });

  it("are made at an entry or at the root, and hold what the harness began with", async () => {
    const world = new World(text("hello"), text("side"));
    const { harness } = await world.boot({ thinkingLevel: "low" });
    await harness.prompt("go");
    await harness.setThinkingLevel("high");
    const at = await harness.getLeafId();
    const made = await harness.createLane("slack:1", at);
    if (!made.ok) throw made.error;
    const model = StoreModel.fresh();
    const names = world.log.flatMap((line) => {
      if (line.kind !== "commit") return [];
      const found = recognise(line.writes, model);
      model.apply(line.writes, line.result);
      return found.ok ? [found.name] : [found.message];
    });
    expect(names).toContain("lane.create");
    expect(names).toContain("lane.configure");
    expect(await made.value.getThinkingLevel()).toBe("low");
    expect(await made.value.prompt("and you?")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(await harness.getLeafId()).toBe(at);
    expect(await harness.lanes()).toMatchObject([
      { name: "main", leafId: at },
      { name: "slack:1", operation: null },
    ]);
    expect(await harness.lane("slack:1")).toBe(made.value);
    expect(await harness.lane("other")).toBeUndefined();
    const next = await world.boot();
    expect((await next.harness.lanes()).map(({ name }) => name)).toEqual(["main", "slack:1"]);
  });

  it.each([
    ["main", null, "LaneExists"],
    ["", null, "InvalidLane"],
    ["a\nb", null, "InvalidLane"],
    ["x".repeat(300), null, "InvalidLane"],
    ["side", "no such entry", "UnknownTarget"],
  ])("are refused as %j at %j", async (name, at, tag) => {
    const { harness } = await new World(text("hello")).boot();
    expect(await harness.createLane(name, at)).toMatchObject({ ok: false, error: { _tag: tag } });
    expect(await harness.lanes()).toHaveLength(1);
  });

  it("are there when they are told of", async () => {
    const { harness } = await new World(text("hello")).boot();
    const found: unknown[] = [];
    harness.events.on("lane_created", async ({ lane }) => {
      found.push(await harness.lane(lane), (await harness.watchSession()).snapshot.lanes.length);
    });
    const made = await harness.createLane("side", null);
    await letOthersRun();
    expect(found).toEqual([made.ok && made.value, 2]);
  });

  it("of one name are made once, however many ask", async () => {
    const { harness } = await new World(text("hello")).boot();
    const made = await Promise.all([harness.createLane("side", null), harness.createLane("side", null)]);
    expect(made.map((result) => result.ok)).toEqual([true, false]);
    await harness.close();
    expect(await harness.createLane("late", null)).toMatchObject({ ok: false, error: { _tag: "Closed" } });
  });
});

describe("settings", () => {
  it("apply to what starts after them, and are read as they were set", async () => {
    const world = new World([failure("overloaded"), text("hello")]);
    const { harness } = await world.boot();
    expect(await harness.getRetryPolicy()).toEqual({ enabled: false, maxRetries: 0, baseDelayMs: 1000 });
    const policy = { enabled: true, maxRetries: 1, baseDelayMs: 5 };
    await harness.setRetryPolicy(policy);
    await harness.setStreamOptions({ timeoutMs: 7, metadata: { user: "u" } });
    await harness.setCompactionSettings({ enabled: false, reserveTokens: 1, keepRecentTokens: 2 });
    await harness.setSteeringMode("all");
    await harness.setFollowUpMode("all");
    policy.maxRetries = 99;
    expect(await harness.getRetryPolicy()).toEqual({ enabled: true, maxRetries: 1, baseDelayMs: 5 });
    expect(await harness.getStreamOptions()).toEqual({ timeoutMs: 7, metadata: { user: "u" } });
    expect(await harness.getCompactionSettings()).toMatchObject({ enabled: false });
    expect([await harness.getSteeringMode(), await harness.getFollowUpMode()]).toEqual(["all", "all"]);
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    const captured = world.commits
      .flat()
      .flatMap((write) =>
        write.kind === "register" && write.op === "set" && write.namespace === "op.state"
          ? [write.value]
          : [],
      );
    expect(captured[0]).toMatchObject({ settings: { steeringMode: "all", compaction: { enabled: false } } });
    expect(captured[1]).toMatchObject({
      phase: {
        generation: { context: { streamOptions: { timeoutMs: 7 }, retryPolicy: { maxAttempts: 2 } } },
      },
    });
  });

  it.each([
    ["a thinking level", { thinkingLevel: "enormous" as never }],
    ["a model", { model: { ...MODEL, id: "" } }],
    ["active tools", { activeToolNames: ["read", "read"] }],
  ])(
    "refuse a harness whose new lanes would have wrong %s, whatever its lanes have",
    async (_what, option) => {
      const world = new World(text("hello"));
      await world.boot();
      await expect(world.boot(option)).rejects.toThrow(TypeError);
      expect(await (await world.boot()).harness.createLane("side", null)).toMatchObject({ ok: true });
    },
  );

  it.each([
    ["setRetryPolicy", { enabled: true, maxRetries: -1, baseDelayMs: 1 }],
    ["setStreamOptions", { signal: new AbortController().signal }],
    ["setStreamOptions", { metadata: { call: () => 1 } }],
    ["setCompactionSettings", { enabled: true }],
    ["setSteeringMode", "some"],
  ] as const)("that are wrong are refused by %s, and nothing has changed", async (setter, value) => {
    const { harness } = await new World(text("hello")).boot();
    const events: HarnessEvent[] = [];
    harness.events.on("config_update", (event) => {
      events.push(event);
    });
    await expect((harness[setter] as (wrong: unknown) => Promise<void>)(value)).rejects.toThrow();
    expect(events).toEqual([]);
    expect(await harness.getStreamOptions()).toEqual({});
    expect(await harness.prompt("go")).toMatchObject({ ok: true });
  });

  it("stream options take a member that is undefined as one that is not given, at every depth", async () => {
    const given = {
      timeoutMs: undefined,
      headers: { a: undefined, b: "1" },
      metadata: { deep: { c: undefined } },
    };
    const expected = { headers: { b: "1" }, metadata: { deep: {} } };
    const { harness } = await new World(text("hello")).boot({ streamOptions: given as never });
    expect(await harness.getStreamOptions()).toStrictEqual(expected);
    await harness.setStreamOptions({ ...given, timeoutMs: 7 } as never);
    expect(await harness.getStreamOptions()).toStrictEqual({ ...expected, timeoutMs: 7 });
    const circle: Record<string, unknown> = { gone: undefined };
    circle.circle = circle;
    for (const refused of [{ list: [undefined] }, { [Symbol("s")]: 1 }, { at: new Date(0) }, circle]) {
      await expect(harness.setStreamOptions({ metadata: refused as never })).rejects.toThrow("JSON");
    }
  });

  it("that change between the snapshot of a step and its commit are in the step", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot({ drive: "manual" });
    const run = harness.prompt("go");
    await harness.peekAction();
    await harness.setStreamOptions({ timeoutMs: 7 });
    await harness.setThinkingLevel("high");
    await harness.runToCompletion();
    await run;
    const ready = world.commits
      .flat()
      .find(
        (write) =>
          write.kind === "register" &&
          write.op === "set" &&
          write.namespace === "op.state" &&
          write.value.kind === "run" &&
          write.value.phase.kind === "assistant",
      );
    expect(ready).toMatchObject({
      value: {
        phase: {
          generation: {
            context: { streamOptions: { timeoutMs: 7 }, configuration: { thinkingLevel: "high" } },
          },
        },
      },
    });
  });

  it("of a lane reject what is none, and take names that no registry knows", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot({ tools: [world.tool("read")] });
    await expect(harness.setThinkingLevel("enormous" as never)).rejects.toThrow(TypeError);
    await expect(harness.setActiveTools(["read", "read"])).rejects.toThrow(TypeError);
    expect(await harness.getActiveTools()).toEqual(["read"]);
    await harness.setActiveTools(["later"]);
    expect(await harness.prompt("go")).toMatchObject({
      ok: false,
      error: { _tag: "MissingIdentities", tools: ["later"] },
    });
    await harness.setTools([world.tool("later")]);
    expect((await harness.getTools()).map(({ name }) => name)).toEqual(["later"]);
    expect(await harness.prompt("go")).toMatchObject({ ok: true });
    await harness.setModel({ ...MODEL, id: "gone" });
    expect(await harness.getModel()).toBeUndefined();
    expect(await harness.prompt("go")).toMatchObject({ ok: false, error: { models: ["acme/gone"] } });
    await harness.close();
    await expect(harness.setThinkingLevel("low")).rejects.toThrow("closed");
    await expect(harness.setSteeringMode("all")).rejects.toThrow("closed");
  });
});

describe("usage that a caller books", () => {
  it("is an adjustment with an id of its own, of an entry if it names one", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    await harness.prompt("go");
    const entryId = (await harness.getLeafId()) ?? "";
    const booked = await harness.recordUsage(tokens(3, 4), { entryId, details: { why: "invoice" } });
    expect(world.disk.dump().usage.at(-1)).toMatchObject({
      id: booked.ok ? booked.value.usageId : "",
      adjustment: true,
      entryId,
      details: { why: "invoice" },
    });
    const { commitCount } = world;
    for (const refused of [
      harness.recordUsage({} as never),
      harness.recordUsage(tokens(1, 1), { entryId: "none" }),
      harness.recordUsage(tokens(1, 1), { details: 1n as never }),
    ]) {
      expect(await refused).toMatchObject({ ok: false, error: { _tag: "InvalidMessage", lane: "main" } });
    }
    expect(world.commitCount).toBe(commitCount);
    expect(await harness.prompt("go on")).toMatchObject({ ok: true });
  });
});

describe("resources", () => {
  const skill = {
    name: "review",
    description: "Reviews",
    content: "Read all of it.",
    filePath: "/skills/review/SKILL.md",
  };
  const template = { name: "fix", content: `Fix $1 in $2: \${@:2} | \${@:0:1} | $ARGUMENTS | $@ | $3` };

  it("become one user message before anything is stored", async () => {
    const world = new World(text("hello"), text("again"));
    const { harness } = await world.boot({ resources: { skills: [skill], promptTemplates: [template] } });
    await harness.skill("review", "Be brief.");
    await harness.promptFromTemplate("fix", ["a bug", "b.ts"]);
    const said = world.disk
      .dump()
      .entries.flatMap((entry) =>
        entry.type === "message" && entry.message.role === "user" ? [entry.message.content] : [],
      );
    expect(said).toEqual([
      [
        {
          type: "text",
          text:
            '<skill name="review" location="/skills/review/SKILL.md">\nReferences are relative to /skills/review.\n\n' +
            "Read all of it.\n</skill>\n\nBe brief.",
        },
      ],
      [{ type: "text", text: "Fix a bug in b.ts: b.ts | a bug | a bug b.ts | a bug b.ts | " }],
    ]);
  });

  it("that are unknown write nothing", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot({ resources: { skills: [skill] } });
    expect(await harness.skill("other")).toMatchObject({
      ok: false,
      error: { _tag: "UnknownSkill", name: "other" },
    });
    expect(await harness.promptFromTemplate("fix")).toMatchObject({
      ok: false,
      error: { _tag: "UnknownTemplate" },
    });
    await harness.setResources({ promptTemplates: [template] });
    expect(await harness.skill("review")).toMatchObject({ ok: false });
    expect(await harness.getResources()).toEqual({ promptTemplates: [template] });
    expect(world.commitCount).toBe(1);
  });

  it("are expanded in order, arguments counted from 1", () => {
    const expanded = (content: string, ...args: string[]) => {
      const made = expandTemplate({ promptTemplates: [{ name: "t", content }] }, "t", args);
      return made.ok ? made.value : made.error.message;
    };
    expect(expanded("$10-$1", ..."abcdefghij")).toBe("j-a");
    expect(expanded(`\${@:-3:2}`, "a", "b", "c")).toBe("a b");
    expect(expanded(`\${@:9}|$4`, "a")).toBe("|");
    // What an argument holds is text: later steps work on it, as the order says.
    expect(expanded("$1", "$@")).toBe("$@");
    expect(expandSkill({ skills: [{ ...skill, filePath: "/SKILL.md" }] }, "review")).toMatchObject({
      value: expect.stringContaining("relative to /."),
    });
  });
});

it("no public call takes a signal", async () => {
  const world = new World(calls({ id: "c1", name: "read" }), text("done"));
  const { harness } = await world.boot({ tools: [world.tool("read")] });
  await expect(harness.setStreamOptions({ signal: AbortSignal.abort() } as never)).rejects.toThrow();
  const patched = { compact: { signal: AbortSignal.abort() }, navigate: { signal: AbortSignal.abort() } };
  expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
  expect(await harness.compact(patched.compact as never)).toMatchObject({
    ok: false,
    error: { _tag: "NothingToCompact" },
  });
});
