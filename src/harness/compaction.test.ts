/** Compactions of a caller: which commits they make, what is asked, and how they end. */
import { describe, expect, it } from "vitest";
import {
  commitsFrom,
  compactions,
  conversation,
  hook,
  last,
  RETRY,
  SETTINGS,
  summaryRequests,
  supplied,
} from "./testing/conversation.ts";
import { failure, text, tokens, World } from "./testing/scripted.ts";

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
