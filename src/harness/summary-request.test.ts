/** What a summary request says, and the options that structural work forces upon it. */
import { describe, expect, it } from "vitest";
import type {
  AgentMessage,
  AssistantMessage,
  Model,
  Models,
  ProviderContext,
  ProviderStreamOptions,
} from "../model/index.ts";
import type { AgentHarnessOptions } from "./options.ts";
import { conversationText, SUMMARIZER_PROMPT, summaryPrompt } from "./summary-text.ts";
import { isSummaryRequest, MODEL, text, tokens, World } from "./testing/scripted.ts";

const said = (content: AssistantMessage["content"]): AgentMessage => ({
  role: "assistant",
  content,
  api: "a",
  provider: "p",
  model: "m",
  usage: tokens(1, 1),
  stopReason: "stop",
  timestamp: 1,
});
const result = (content: string): AgentMessage => ({
  role: "toolResult",
  toolCallId: "c",
  toolName: "read",
  content: [{ type: "text", text: content }],
  isError: false,
  timestamp: 1,
});

describe("a conversation as text", () => {
  it("has a labelled paragraph for everything that was said, and nothing for what has no text", () => {
    const messages: AgentMessage[] = [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
        ],
        timestamp: 1,
      },
      said([
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "reading" },
        { type: "toolCall", id: "1", name: "read", arguments: { path: "a", lines: [1, 2] } },
        { type: "toolCall", id: "2", name: "list", arguments: {} },
      ]),
      result("contents"),
      said([]),
      { role: "compactionSummary", summary: "before", tokensBefore: 1, timestamp: 1 },
    ];
    expect(conversationText(messages)).toBe(
      [
        "[User]: look",
        "[Assistant thinking]: hm",
        "[Assistant]: reading",
        '[Assistant tool calls]: read(path="a", lines=[1,2]); list()',
        "[Tool result]: contents",
        "[User]: Summary of the earlier part of this conversation:\n\n<summary>\nbefore\n</summary>",
      ].join("\n\n"),
    );
  });

  it("cuts long tool results, and says how much is left out", () => {
    const shown = conversationText([result("x".repeat(2345))]);
    expect(shown).toContain("[345 more characters left out]");
    expect(shown.match(/x/g)).toHaveLength(2000);
    expect(conversationText([result("x".repeat(2000))])).not.toContain("left out");
  });
});

describe("the prompt of a summarizer", () => {
  const ask = (stage: "history" | "turn_prefix" | "branch", previousSummary?: string) =>
    summaryPrompt({ stage, messages: [], previousSummary, customInstructions: "names" });

  it.each([
    ["history", ["## Goal", "## Critical Context", "Mind above all: names"], ["<previous-summary>"]],
    ["turn_prefix", ["## Original Request"], ["## Goal", "names"]],
    ["branch", ["## Next Steps", "Mind above all: names"], ["## Critical Context"]],
  ] as const)("asks for the sections of its stage: %s", (stage, has, hasNot) => {
    for (const part of has) expect(ask(stage)).toContain(part);
    for (const part of hasNot) expect(ask(stage)).not.toContain(part);
  });

  it("gives a previous summary with the history alone, to be updated", () => {
    expect(ask("history", "before")).toMatch(/<previous-summary>\nbefore\n<\/previous-summary>\n\nUpdate/);
    expect(ask("turn_prefix", "before")).not.toContain("before</");
  });
});

describe("the options of a summary request", () => {
  async function optionsOf(
    options: Partial<AgentHarnessOptions>,
    model: Partial<Model> = {},
  ): Promise<ProviderStreamOptions[]> {
    const world = new World(text("one"), text("two"));
    world.summaries = [text("SUMMARY")];
    const seen: ProviderStreamOptions[] = [];
    const models = world.models();
    const watched: Models = {
      ...models,
      getModel: (provider, id) => {
        const known = models.getModel(provider, id);
        return known && { ...known, ...model };
      },
      streamSimple: (asked, context: ProviderContext, given) => {
        if (isSummaryRequest(context)) {
          expect(context.systemPrompt).toBe(SUMMARIZER_PROMPT);
          expect(context.tools).toBeUndefined();
          seen.push(given ?? {});
        }
        return models.streamSimple(asked, context, given);
      },
    };
    const compaction = { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 };
    const { harness } = await world.boot({ models: watched, compaction, ...options });
    await harness.prompt("first");
    await harness.prompt("second");
    await harness.compact();
    await harness.navigateTree(world.disk.dump().entries[0]?.id ?? "", { summarize: true });
    return seen;
  }

  it("are the captured ones, with nothing cached or deferred, a session of their own and a cap for each stage", async () => {
    const seen = await optionsOf({ streamOptions: { timeoutMs: 7, deferred: true, cacheRetention: "long" } });
    expect(seen).toHaveLength(3);
    const forced = { timeoutMs: 7, deferred: false, cacheRetention: "none" };
    expect(seen).toMatchObject([
      { ...forced, maxTokens: 800 },
      { ...forced, maxTokens: 500 },
      { ...forced, maxTokens: 2048 },
    ]);
    expect(new Set(seen.map(({ sessionId }) => sessionId)).size).toBe(3);
    expect(seen.every(({ signal }) => signal instanceof AbortSignal)).toBe(true);
  });

  it("never ask for more output than the model has", async () => {
    const seen = await optionsOf({}, { maxTokens: 600 });
    expect(seen.map(({ maxTokens }) => maxTokens)).toEqual([600, 500, 600]);
  });

  it("leave the cap to the model where nothing is reserved", async () => {
    const compaction = { enabled: true, reserveTokens: 0, keepRecentTokens: 1 };
    const [history] = await optionsOf({ compaction }, { maxTokens: 0 });
    expect(history).not.toHaveProperty("maxTokens");
  });

  it("ask a model that can to reason about a context, and never about a branch", async () => {
    const reasoning = async (model: Partial<Model>) =>
      (await optionsOf({ thinkingLevel: "high" }, model)).map((options) => options.reasoning);
    expect(await reasoning({ reasoning: true })).toEqual(["high", "high", undefined]);
    expect(await reasoning({ ...MODEL })).toEqual([undefined, undefined, undefined]);
  });
});
