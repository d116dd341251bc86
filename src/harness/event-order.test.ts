/**
 * Everything that a harness tells of an operation, in its order, for each kind of operation and each way in which it can
 * go. Every row is the whole of what was told (spec §5.5).
 */
import { describe, expect, it } from "vitest";
import type { AssistantMessage, AssistantMessageEventStream, Models } from "../model/index.ts";
import type { AgentHarness } from "./agent-harness.ts";
import { listening, PROMPT, RESPONSE, RESULT, TURN } from "./testing/listening.ts";
import { type Answer, calls, failure, MODEL, text, tokens, World } from "./testing/scripted.ts";

const RETRY = { enabled: true, maxRetries: 1, baseDelayMs: 100 };
/** Keeps the newest message alone. */
const COMPACT = { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 };

interface Row {
  /** What the provider answers, turn by turn. */
  readonly turns: readonly (Answer | readonly Answer[])[];
  readonly summaries?: readonly Answer[];
  readonly compaction?: typeof COMPACT;
  /** Said and done before anybody listens. */
  readonly before?: readonly string[];
  readonly hook?: (harness: AgentHarness) => void;
  readonly go: (harness: AgentHarness, world: World) => Promise<unknown>;
  readonly told: readonly string[];
}

async function toldOf({ turns, summaries = [], compaction, before = [], hook, go }: Row): Promise<string[]> {
  const world = new World(...turns);
  world.summaries = summaries;
  const tools = [world.tool("read")];
  const { harness } = await world.boot({ tools, retry: RETRY, compaction: compaction ?? COMPACT });
  for (const said of before) await harness.prompt(said);
  hook?.(harness);
  const { words } = await listening(harness);
  await go(harness, world);
  return words;
}

const overflow = failure("prompt is too long: the context window was exceeded");
const oldest = async (harness: AgentHarness) =>
  (await harness.session.findEntry({ type: "message", order: "asc" }))?.id ?? "";

/** An abort in the moment when something is told. */
const abortAt =
  (type: Parameters<AgentHarness["events"]["on"]>[0]) =>
  (harness: AgentHarness): void => {
    const stop = harness.events.on(type, () => {
      stop();
      void harness.abort();
    });
  };

const ROWS: Record<string, Row> = {
  "a compaction of a caller": {
    turns: [text("one"), text("two")],
    summaries: [text("SUMMARY")],
    before: ["first", "second"],
    go: (harness) => harness.compact(),
    told: ["compaction_start", "usage", "usage", "entry_added compaction", "compaction_end completed"],
  },
  "a compaction whose first attempt failed": {
    turns: [text("one"), text("two")],
    summaries: [failure("overloaded"), text("SUMMARY"), text("PREFIX")],
    before: ["first", "second"],
    go: (harness) => harness.compact(),
    told: [
      ...["compaction_start", "usage", "retry_scheduled", "retry_start", "usage", "usage"],
      ...["entry_added compaction", "retry_end", "compaction_end completed"],
    ],
  },
  "a compaction that fails": {
    turns: [text("one"), text("two")],
    summaries: [failure("overloaded")],
    before: ["first", "second"],
    go: (harness) => harness.compact(),
    told: [
      ...["compaction_start", "usage", "retry_scheduled", "retry_start", "usage"],
      ...["retry_end", "compaction_end failed"],
    ],
  },
  "a compaction that a hook declines": {
    turns: [text("one"), text("two")],
    before: ["first", "second"],
    hook: (harness) => harness.hooks.on("before_compaction", () => ({ decline: true })),
    go: (harness) => harness.compact(),
    told: ["compaction_start", "compaction_end declined"],
  },
  "a compaction that a hook supplies, with its cost": {
    turns: [text("one"), text("two")],
    before: ["first", "second"],
    hook: (harness) =>
      harness.hooks.on("before_compaction", () => ({
        compaction: { summary: "HOOK", tokensBefore: 1, retainedTail: [], usage: tokens(1, 1) },
      })),
    go: (harness) => harness.compact(),
    told: ["compaction_start", "usage", "entry_added compaction", "compaction_end completed"],
  },
  "a compaction that is cancelled": {
    turns: [text("one"), text("two")],
    summaries: [text("SUMMARY")],
    before: ["first", "second"],
    hook: abortAt("compaction_start"),
    go: (harness) => harness.compact(),
    told: ["compaction_start", "compaction_end aborted"],
  },
  "a navigation without a summary, with a label": {
    turns: [text("one")],
    before: ["first"],
    go: async (harness) => harness.navigateTree(await oldest(harness), { label: "here" }),
    told: ["navigation_start", "fact_update", "navigation_end completed"],
  },
  "a navigation with a summary": {
    turns: [text("one"), text("two")],
    summaries: [text("SUMMARY")],
    before: ["first", "second"],
    go: async (harness) => harness.navigateTree(await oldest(harness), { summarize: true }),
    told: ["navigation_start", "usage", "entry_added branch_summary", "navigation_end completed"],
  },
  "a navigation that a hook declines": {
    turns: [text("one")],
    before: ["first"],
    hook: (harness) => harness.hooks.on("before_navigation", () => ({ decline: true })),
    go: async (harness) => harness.navigateTree(await oldest(harness), { summarize: true }),
    told: ["navigation_start", "navigation_end declined"],
  },
  "a run with a compaction at a threshold": {
    turns: [{ ...text("large"), usage: tokens(199_500, 1) }],
    summaries: [text("SUMMARY")],
    go: (harness) => harness.prompt("first"),
    told: [
      ...[...PROMPT, ...TURN, "compaction_start", "usage"],
      ...["entry_added compaction", "compaction_end completed", "run_end completed"],
    ],
  },
  "a run that did not fit, and does after a compaction": {
    turns: [text("one"), [overflow, text("two")]],
    summaries: [text("SUMMARY")],
    before: ["first"],
    go: (harness) => harness.prompt("second"),
    told: [
      ...[...PROMPT, "turn_start", ...RESPONSE, "turn_end"],
      ...["compaction_start", "usage", "entry_added compaction", "compaction_end completed"],
      ...[...TURN, "run_end completed"],
    ],
  },
  "a run that did not fit, and whose compaction a hook declines": {
    turns: [text("one"), overflow],
    before: ["first"],
    hook: (harness) => harness.hooks.on("before_compaction", () => ({ decline: true })),
    go: (harness) => harness.prompt("second"),
    told: [...PROMPT, ...TURN, "compaction_start", "compaction_end declined", "run_end failed"],
  },
  "a run whose attempts are used up": {
    turns: [failure("overloaded")],
    go: (harness) => harness.prompt("go"),
    told: [
      ...[...PROMPT, "turn_start", ...RESPONSE, "retry_scheduled", "retry_start", ...RESPONSE],
      ...["retry_end", "turn_end", "run_end failed"],
    ],
  },
  "a run that is cancelled before its first request": {
    turns: [text("never")],
    hook: abortAt("turn_start"),
    go: (harness) => harness.prompt("go"),
    told: [...PROMPT, "turn_start", "run_abort", "run_end aborted"],
  },
  "a run that is cancelled while it is answered": {
    turns: [
      (_context, signal) =>
        new Promise((resolve) => signal?.addEventListener("abort", () => resolve({ stopReason: "aborted" }))),
    ],
    go: async (harness, world) => {
      const run = harness.prompt("go");
      while (world.requests.length === 0) await Promise.resolve();
      await harness.abort();
      await run;
    },
    told: [...PROMPT, "turn_start", "run_abort", ...RESPONSE, "turn_end", "run_end aborted"],
  },
  "a run that is cancelled while an attempt waits": {
    turns: [failure("overloaded")],
    hook: abortAt("retry_scheduled"),
    go: (harness) => harness.prompt("go"),
    told: [
      ...[...PROMPT, "turn_start", ...RESPONSE, "retry_scheduled", "run_abort"],
      ...["retry_end", "turn_end", "run_end aborted"],
    ],
  },
  "a run that is cancelled while a call runs": {
    turns: [calls({ id: "c1", name: "read" }, { id: "c2", name: "read" })],
    hook: abortAt("tool_start"),
    go: (harness) => harness.prompt("go"),
    told: [
      ...[...PROMPT, "turn_start", ...RESPONSE, "tool_start c1", "run_abort"],
      ...["tool_end c1", ...RESULT, ...RESULT, "turn_end", "run_end aborted"],
    ],
  },
  "a run with a call that is refused": {
    turns: [calls({ id: "c1", name: "unknown" }), text("done")],
    go: (harness) => harness.prompt("go"),
    told: [...PROMPT, "turn_start", ...RESPONSE, ...RESULT, "turn_end", ...TURN, "run_end completed"],
  },
  "a run that input is queued for": {
    turns: [text("one"), text("two")],
    hook: (harness) => {
      const stop = harness.events.on("turn_start", () => {
        stop();
        void harness.followUp("more");
      });
    },
    go: (harness) => harness.prompt("go"),
    told: [
      ...[...PROMPT, "turn_start", "queue_update", ...RESPONSE, "turn_end"],
      ...[...PROMPT.slice(1), "queue_update", ...TURN, "run_end completed"],
    ],
  },
  "a run that takes what was queued for it": {
    turns: [text("one")],
    go: (harness) => harness.nextRun("before").then(() => harness.prompt("go")),
    told: [
      ...["queue_update", ...PROMPT, ...PROMPT.slice(1), "queue_update"],
      ...[...TURN, "run_end completed"],
    ],
  },
  "a run that a hook makes go on": {
    turns: [text("one"), text("two")],
    hook: (harness) => {
      let count = 0;
      harness.hooks.on("before_run_end", () => (count++ === 0 ? { followUp: "more" } : undefined));
    },
    go: (harness) => harness.prompt("go"),
    told: [...PROMPT, ...TURN, ...PROMPT.slice(1), ...TURN, "run_end completed"],
  },
  "writes of an idle lane, and a booking": {
    turns: [],
    go: async (harness) => {
      await harness.session.appendMessage({ role: "user", content: "note", timestamp: 1 });
      await harness.session.appendCustomEntry("note", 1);
      await harness.recordUsage(tokens(1, 1));
    },
    told: [...PROMPT.slice(1), "entry_added custom", "usage"],
  },
};

describe("what is told, from the first event to the last, of", () => {
  it.each(Object.entries(ROWS))("%s", async (_name, row) => {
    expect(await toldOf(row)).toEqual(row.told);
  });
});

it("a response streams, passes its hook, is told as it will be stored, and then is", async () => {
  const world = new World();
  const message: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text: "hello" }],
    ...{ api: MODEL.api, provider: MODEL.provider, model: MODEL.id },
    ...{ usage: tokens(1, 1), stopReason: "stop", timestamp: 1 },
  };
  const partial = { ...message, stopReason: "pending" } as const;
  const models: Models = {
    ...world.models(),
    streamSimple: (): AssistantMessageEventStream => ({
      result: () => Promise.resolve(message),
      async *[Symbol.asyncIterator]() {
        yield { type: "start", partial };
        yield { type: "text_start", contentIndex: 0, partial };
        yield { type: "text_delta", contentIndex: 0, delta: "hello", partial };
        yield { type: "done", reason: "stop", message };
      },
    }),
  };
  const { harness } = await world.boot({ models });
  const { words, events } = await listening(harness);
  harness.hooks.on("after_response", ({ message: said }) => {
    words.push("the hook after_response");
    return { message: { ...said, content: [{ type: "text", text: "HOOKED" }] } };
  });
  await harness.prompt("go");
  expect(words).toEqual([
    ...[...PROMPT, "turn_start", "message_start assistant", "message_update", "message_update"],
    ...["the hook after_response", "message_end assistant", "entry_added assistant", "usage"],
    ...["turn_end", "run_end completed"],
  ]);
  const response = world.disk.dump().entries[1];
  const ended = events.filter(({ type }) => type === "message_end")[1];
  expect(ended).toMatchObject({ entryId: response?.id, message: { content: [{ text: "HOOKED" }] } });
});
