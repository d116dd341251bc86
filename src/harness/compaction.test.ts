/**
 * Compactions of a caller and inside a run: which commits they make, what is asked, and how they end.
 */
import { describe, expect, it } from "vitest";
import type { CompactionSettings, LaneLastResult } from "../model/index.ts";
import type { AgentHarness } from "./agent-harness.ts";
import type { CompactResult } from "./decision-hooks.ts";
import type { Hooks } from "./hooks.ts";
import { calls, failure, gate, inWords, isSummaryRequest, text, tokens, World } from "./testing/scripted.ts";

/** Keeps the newest message alone. */
const SETTINGS: CompactionSettings = { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 };
const RETRY = { enabled: true, maxRetries: 1, baseDelayMs: 100 };

const commitsFrom = (world: World, first: number) =>
  world.commits.slice(first).map((writes) => writes.map(inWords));
const summaryRequests = (world: World) => world.requests.filter(isSummaryRequest);
const last = (harness: AgentHarness) => harness.getLastResult() as Promise<LaneLastResult>;
const compactions = (world: World) => world.disk.dump().entries.filter(({ type }) => type === "compaction");

/** Two turns said and done. */
async function conversation(options: Parameters<World["boot"]>[0] = {}, hooked: Hooked = () => {}) {
  const world = new World(text("one"), text("two"), text("three"));
  world.summaries = [text("SUMMARY")];
  const life = await world.boot({ compaction: SETTINGS, ...options });
  hooked(life.harness.hooks);
  await life.harness.prompt("first");
  await life.harness.prompt("second");
  return { world, harness: life.harness, session: life.session, commitCount: world.commitCount };
}

/** Registers handlers. */
type Hooked = (hooks: Hooks) => void;

const hook =
  (answer: unknown): Hooked =>
  (hooks) =>
    hooks.on("before_compaction", () => answer as { decline?: boolean });
const supplied: CompactResult = {
  summary: "HOOK",
  tokensBefore: 5,
  retainedTail: [{ role: "user", content: "kept", timestamp: 1 }],
  usage: tokens(3, 4),
  details: { any: "thing" },
};

describe("compact()", () => {
  it("summarizes what is old, keeps what is recent, and ends with its entry", async () => {
    const { world, harness, commitCount } = await conversation();
    const result = await harness.compact();
    expect(result).toMatchObject({
      ok: true,
      value: {
        kind: "completed",
        entry: {
          type: "compaction",
          summary: expect.stringMatching(/^SUMMARY/),
          retainedTail: [{ role: "assistant" }],
          fromHook: false,
          details: { readFiles: [], modifiedFiles: [] },
        },
      },
    });
    if (!result.ok || result.value.kind !== "completed") throw new Error("it completed");
    expect(await harness.getLeafId()).toBe(result.value.leafId);
    expect(await last(harness)).toMatchObject({ kind: "compaction", outcome: "completed" });
    expect(commitsFrom(world, commitCount)).toEqual([
      ["set op.preparation", "set op.meta", "set op.state", "set lane.state"],
      ["set op.state"],
      ["set op.state"],
      ["set op.state"],
      ["usage", "set op.state"],
      ["set op.state"],
      ["usage", "set op.state"],
      [
        "entry compaction",
        "set lane.leaf",
        "delete op.meta",
        "delete op.state",
        "delete op.preparation",
        "set lane.lastResult",
        "set lane.state",
      ],
    ]);
  });

  it("asks for the history and for the beginning of a turn that is cut, one after the other", async () => {
    const { world, harness } = await conversation();
    world.summaries = [text("HISTORY"), text("PREFIX")];
    await harness.compact({ customInstructions: "names" });
    const [history, prefix] = summaryRequests(world).map(({ messages }) => JSON.stringify(messages));
    expect(history).toContain("[User]: first");
    expect(history).toContain("Mind above all: names");
    expect(history).not.toContain("second");
    expect(prefix).toContain("[User]: second");
    expect(prefix).not.toContain("names");
    expect(summaryRequests(world).every(({ tools }) => tools === undefined)).toBe(true);
    expect(compactions(world)[0]).toMatchObject({ summary: expect.stringMatching(/^HISTORY.*PREFIX$/s) });
  });

  it("books the usage of every request, and shows the sum of its attempt", async () => {
    const { world, harness } = await conversation({ retry: RETRY });
    world.summaries = [
      { ...text("HISTORY"), usage: tokens(1, 0) },
      { ...failure("overloaded"), usage: tokens(2, 0) },
      { ...text("HISTORY"), usage: tokens(4, 0) },
      { ...text("PREFIX"), usage: tokens(8, 0) },
    ];
    await harness.compact();
    expect(compactions(world)[0]).toMatchObject({ usage: { input: 12 } });
    expect(
      world.disk
        .dump()
        .usage.slice(-4)
        .map(({ usage }) => usage.input),
    ).toEqual([1, 2, 4, 8]);
  });

  it("is followed by turns whose context is the summary and what was kept", async () => {
    const { world, harness } = await conversation();
    await harness.compact();
    await harness.prompt("third");
    const { messages } = world.requests.at(-1) ?? { messages: [] };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(messages[0])).toContain("<summary>\\nSUMMARY");
  });

  it("compacts what came after the compaction before it, and hands on its summary", async () => {
    const { world, harness } = await conversation();
    await harness.compact();
    await harness.prompt("third");
    world.summaries = [text("NEWER")];
    expect(await harness.compact()).toMatchObject({ ok: true, value: { kind: "completed" } });
    const history = JSON.stringify(summaryRequests(world).at(-2)?.messages);
    expect(history).toContain("<previous-summary>\\nSUMMARY");
    expect(history).not.toContain("first");
    expect(compactions(world)).toHaveLength(2);
  });

  it.each([
    ["nothing was said", new World(text("one")), []],
    ["all of it is recent", new World(text("one")), ["first"]],
  ])("is refused where %s, with nothing written", async (_name, world, prompts) => {
    const { harness } = await world.boot({ compaction: { ...SETTINGS, keepRecentTokens: 1000 } });
    for (const prompt of prompts) await harness.prompt(prompt);
    const before = world.commitCount;
    expect(await harness.compact()).toMatchObject({
      ok: false,
      error: { _tag: "NothingToCompact", lane: "main" },
    });
    expect(world.commitCount).toBe(before);
    expect(await harness.prompt("next")).toMatchObject({ ok: true });
  });

  it("is refused right after a compaction", async () => {
    const { harness } = await conversation();
    await harness.compact();
    expect(await harness.compact()).toMatchObject({ ok: false, error: { _tag: "NothingToCompact" } });
  });

  it("is refused while its model is not registered", async () => {
    const { world, harness } = await conversation();
    world.hasModel = false;
    expect(await harness.compact()).toMatchObject({ ok: false, error: { _tag: "MissingIdentities" } });
  });

  it("works with automatic compaction switched off", async () => {
    const { harness } = await conversation({ compaction: { ...SETTINGS, enabled: false } });
    expect(await harness.compact()).toMatchObject({ ok: true, value: { kind: "completed" } });
  });
});

describe("the decision hooks", () => {
  it("decline a compaction: the operation ends declined, and nothing is asked", async () => {
    const { world, harness, commitCount } = await conversation({}, hook({ decline: true }));
    const leafId = await harness.getLeafId();
    expect(await harness.compact()).toMatchObject({ ok: true, value: { kind: "declined", leafId } });
    expect(await last(harness)).toMatchObject({ outcome: "declined" });
    expect(summaryRequests(world)).toEqual([]);
    expect(world.commitCount).toBe(commitCount + 2);
  });

  it("supply a compaction, which is stored as it is, with its bill", async () => {
    const { world, harness } = await conversation({}, hook({ compaction: supplied }));
    expect(await harness.compact()).toMatchObject({
      ok: true,
      value: { entry: { summary: "HOOK", fromHook: true, tokensBefore: 5, details: { any: "thing" } } },
    });
    expect(world.disk.dump().usage.at(-1)).toMatchObject({
      usage: { input: 3 },
      entryId: await harness.getLeafId(),
    });
    expect(summaryRequests(world)).toEqual([]);
  });

  it.each([
    ["answers nothing", undefined],
    ["declines and supplies", { decline: true, compaction: supplied }],
    ["supplies no text", { compaction: { ...supplied, summary: 7 } }],
    [
      "supplies a message that cannot be stored",
      { compaction: { ...supplied, retainedTail: [{ role: "nobody" }] } },
    ],
    ["supplies details that JSON cannot carry", { compaction: { ...supplied, details: new Map() } }],
    ["supplies a usage that is none", { compaction: { ...supplied, usage: { input: "many" } } }],
    ["supplies a count that is none", { compaction: { ...supplied, tokensBefore: -1 } }],
  ])("leave it to the next one, and to the summarizer, where one %s", async (_name, answer) => {
    const { harness } = await conversation({}, hook(answer));
    expect(await harness.compact()).toMatchObject({ value: { entry: { fromHook: false } } });
  });

  it("are passed over where they throw, and stop at the first that decides", async () => {
    const asked: string[] = [];
    const { harness } = await conversation({}, (hooks) => {
      hooks.on("before_compaction", () => Promise.reject<undefined>(new Error("no")));
      hooks.on("before_compaction", ({ reason, preparation, lane }) => {
        asked.push(`${lane} ${reason} ${preparation.messagesToSummarize.length}`);
        preparation.messagesToSummarize.length = 0;
        return { compaction: supplied };
      });
      hooks.on("before_compaction", () => ({ decline: true }));
    });
    expect(await harness.compact()).toMatchObject({ value: { entry: { fromHook: true } } });
    expect(asked).toEqual(["main manual 2"]);
  });
});

describe("a summary that fails", () => {
  it("is waited for and tried again as long as the policy allows, and fails the operation at its cap", async () => {
    const { world, harness } = await conversation({ retry: RETRY });
    world.summaries = [failure("overloaded")];
    const before = world.clock.now();
    expect(await harness.compact()).toMatchObject({
      ok: true,
      value: {
        kind: "failed",
        error: { code: "summarization_failed", message: expect.stringContaining("overloaded") },
      },
    });
    expect(world.clock.now() - before).toBe(100);
    expect(summaryRequests(world)).toHaveLength(2);
    expect(await last(harness)).toMatchObject({ kind: "compaction", outcome: "failed" });
    expect(compactions(world)).toEqual([]);
  });

  it("fails at once with an error that is not retryable, and with an empty text", async () => {
    for (const answer of [failure("invalid key"), text(" ")]) {
      const { world, harness } = await conversation({ retry: RETRY });
      world.summaries = [answer];
      expect(await harness.compact()).toMatchObject({ ok: true, value: { kind: "failed" } });
      expect(summaryRequests(world)).toHaveLength(1);
    }
  });

  it("suspends between its requests where the model is gone, and goes on with the same attempt", async () => {
    const { world, harness } = await conversation();
    world.summaries = [
      async () => {
        world.hasModel = false;
        return text("HISTORY");
      },
      text("PREFIX"),
    ];
    expect(await harness.compact()).toMatchObject({
      ok: true,
      value: { kind: "suspended", reason: "missing_identities", missing: { models: ["acme/large"] } },
    });
    expect(await harness.resume()).toMatchObject({ ok: false, error: { _tag: "MissingIdentities" } });
    world.hasModel = true;
    expect(await harness.resume()).toMatchObject({
      ok: true,
      value: { operation: "compaction", kind: "completed" },
    });
    expect(summaryRequests(world)).toHaveLength(2);
  });
});

describe("the reservation of a lane", () => {
  /** A lane whose preparation waits for the application to project a note. */
  async function preparing() {
    const projected = gate();
    let isSlow = false;
    const { world, harness, session } = await conversation({
      entryProjectors: {
        note: async () => {
          if (isSlow) await projected.opened;
          return undefined;
        },
      },
    });
    await session.appendCustomEntry("note");
    isSlow = true;
    const compacting = harness.compact();
    // The reservation is taken on the line; whatever comes after it there finds the lane reserved.
    await harness.nextRun("later");
    return { world, harness, session, compacting, go: () => projected.open() };
  }
  const note = { role: "user", content: "note", timestamp: 1 } as const;

  it("refuses other operations under the id of the one that is prepared", async () => {
    const { harness, compacting, go } = await preparing();
    const refused = [await harness.prompt("x"), await harness.compact(), await harness.navigateTree(null)];
    go();
    const done = await compacting;
    const operationId = done.ok ? done.value.runId : "";
    const busy = { ok: false, error: { _tag: "LaneBusy", operationId, operationKind: "compaction" } };
    expect(refused).toMatchObject([busy, busy, busy]);
    expect(done).toMatchObject({ ok: true, value: { kind: "completed" } });
  });

  it("lets a tree write wait, which then hangs below the compaction", async () => {
    const { world, session, compacting, go } = await preparing();
    const written = session.appendMessage(note);
    const before = world.commitCount;
    await Promise.resolve();
    expect(world.commitCount).toBe(before);
    go();
    const done = await compacting;
    const id = await written;
    const leafId = done.ok && done.value.leafId;
    expect(world.disk.dump().entries.find((entry) => entry.id === id)).toMatchObject({ parentId: leafId });
  });

  it("comes after a tree write that was there first: the preparation sees it", async () => {
    const { world, harness, session } = await conversation();
    const written = session.appendMessage(note);
    const done = await harness.compact();
    await written;
    expect(done).toMatchObject({ ok: true, value: { entry: { retainedTail: [note] } } });
    expect(compactions(world)[0]).toMatchObject({ parentId: await written });
  });

  it("ends with a refusal, and whoever waits for the lane has it", async () => {
    const world = new World(text("one"));
    const { harness } = await world.boot({ compaction: { ...SETTINGS, keepRecentTokens: 1000 } });
    await harness.prompt("first");
    const refused = harness.compact();
    await Promise.all([harness.waitForIdle(), refused]);
    expect(await refused).toMatchObject({ ok: false, error: { _tag: "NothingToCompact" } });
  });

  it("dies with its process: the lane is idle, and nothing was written", async () => {
    const { world, harness, compacting } = await preparing();
    const before = JSON.stringify(world.disk.dump());
    await harness.close();
    expect(await compacting).toMatchObject({ ok: false, error: { _tag: "Closed" } });
    const next = await world.boot();
    expect(next.suspended).toEqual([]);
    expect(JSON.stringify(world.disk.dump())).toBe(before);
  });
});

describe("a compaction inside a run", () => {
  const big = { ...text("big"), usage: tokens(199_500, 10) };

  it("begins at a checkpoint whose context is too large, and the run goes on where it was", async () => {
    const world = new World(
      { ...calls({ id: "c", name: "read" }), usage: tokens(199_500, 10) },
      text("done"),
    );
    world.summaries = [text("SUMMARY")];
    const { harness } = await world.boot({ compaction: SETTINGS, tools: [world.tool("read")] });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(world.disk.dump().entries.map(({ type }) => type)).toEqual([
      "message",
      "message",
      "message",
      "compaction",
      "message",
    ]);
    expect(compactions(world)[0]).toMatchObject({
      retainedTail: [{ role: "assistant" }, { role: "toolResult" }],
    });
  });

  it("happens at most once per trigger, also where there is nothing to compact", async () => {
    const world = new World(big);
    const { harness } = await world.boot({ compaction: { ...SETTINGS, keepRecentTokens: 1000 } });
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(summaryRequests(world)).toEqual([]);
    expect(world.commits.filter((writes) => writes.length === 1).length).toBeGreaterThan(0);
  });

  it.each([
    ["declined", hook({ decline: true }), "completed"],
    ["supplied", hook({ compaction: supplied }), "completed"],
  ])("goes on where it is %s at a threshold", async (_name, hooked, kind) => {
    const world = new World(big);
    const { harness } = await world.boot({ compaction: SETTINGS });
    hooked(harness.hooks);
    expect(await harness.prompt("go")).toMatchObject({ ok: true, value: { kind } });
  });

  it.each([
    ["an error of its provider", failure("prompt is too long")],
    ["an output that is short of its limit", { ...text("cut"), stopReason: "length" as const }],
  ])("follows a request that did not fit, by %s, and asks again once", async (_name, tooLarge) => {
    const world = new World(text("one"), [tooLarge, text("fits")]);
    world.summaries = [text("SUMMARY")];
    const { harness } = await world.boot({ compaction: SETTINGS });
    await harness.prompt("first");
    expect(await harness.prompt("second")).toMatchObject({ ok: true, value: { kind: "completed" } });
    const [compaction] = compactions(world);
    expect(compaction).toMatchObject({ retainedTail: [{ role: "user" }] });
    const refused = world.disk.dump().entries.find(({ id }) => id === compaction?.parentId);
    expect(refused).toMatchObject({ message: { stopReason: "error" } });
  });

  it("fails the run when the request does not fit a second time", async () => {
    const world = new World([failure("prompt is too long")], failure("prompt is too long"));
    world.summaries = [text("SUMMARY")];
    const { harness } = await world.boot({ compaction: { ...SETTINGS, keepRecentTokens: 0 } });
    expect(await harness.prompt([user("a"), user("b")])).toMatchObject({
      ok: true,
      value: { kind: "failed", error: { code: "context_overflow" } },
    });
    expect(compactions(world)).toHaveLength(1);
  });

  it.each([
    ["there is nothing to compact", { ...SETTINGS, keepRecentTokens: 1000 }, undefined, "context_overflow"],
    ["compaction is switched off", { ...SETTINGS, enabled: false }, undefined, "context_overflow"],
    ["a hook declines", SETTINGS, hook({ decline: true }), "compaction_declined"],
    ["the summary fails", SETTINGS, undefined, "summarization_failed"],
  ])("fails the run where %s after an overflow", async (_name, compaction, hooked, code) => {
    const world = new World(failure("prompt is too long"));
    world.summaries = [failure("no")];
    const { harness } = await world.boot({ compaction });
    hooked?.(harness.hooks);
    expect(await harness.prompt([user("a"), user("b")])).toMatchObject({
      ok: true,
      value: { kind: "failed", error: { code } },
    });
  });
});

function user(content: string) {
  return { role: "user", content, timestamp: 1 } as const;
}
