/**
 * Everything that a resume tells of an operation which an earlier process left: what is open is told again and marked, what
 * is in the store is not. Every row is the whole of what was told (spec §5.5).
 */
import { describe, expect, it } from "vitest";
import type { AgentHarness } from "./agent-harness.ts";
import { listening, RESPONSE, RESULT, TURN } from "./testing/listening.ts";
import { type Answer, calls, failure, gate, text, World } from "./testing/scripted.ts";
import { stepTo } from "./testing/stepping.ts";

const RETRY = { enabled: true, maxRetries: 1, baseDelayMs: 100 };
/** Keeps the newest message alone. */
const COMPACT = { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 };

const overflow = failure("prompt is too long: the context window was exceeded");
const oldest = async (harness: AgentHarness) =>
  (await harness.session.findEntry({ type: "message", order: "asc" }))?.id ?? "";

/** Where an earlier process stopped, and what a resume tells then. */
interface Recovered {
  readonly turns: readonly (Answer | readonly Answer[])[];
  readonly summaries?: readonly Answer[];
  readonly before?: readonly string[];
  readonly begin: (harness: AgentHarness, oldestEntryId: string) => Promise<unknown>;
  readonly stop: readonly [kind: string, about?: string];
  /** The earlier process cancelled it. */
  readonly isCancelled?: true;
  readonly retries?: number;
  readonly told: readonly string[];
}

const resumed = "run_resume (recovery)";

const RECOVERED: Record<string, Recovered> = {
  "a run before its first turn": {
    turns: [text("one")],
    begin: (harness) => harness.prompt("go"),
    stop: ["commit_transition", "generation_started"],
    told: [resumed, ...TURN, "run_end completed"],
  },
  "a run before its first request": {
    turns: [text("one")],
    begin: (harness) => harness.prompt("go"),
    stop: ["commit_transition", "request_intended"],
    told: [resumed, "turn_start (recovery)", ...RESPONSE, "turn_end", "run_end completed"],
  },
  "a run whose request was lost, with an attempt left": {
    turns: [text("one")],
    begin: (harness) => harness.prompt("go"),
    stop: ["provider_request"],
    told: [
      resumed,
      "turn_start (recovery)",
      "retry_start",
      ...RESPONSE,
      "retry_end",
      "turn_end",
      "run_end completed",
    ],
  },
  "a run whose request was lost, with none left": {
    turns: [text("one")],
    begin: (harness) => harness.prompt("go"),
    stop: ["provider_request"],
    retries: 0,
    told: [resumed, "turn_start (recovery)", ...RESPONSE, "turn_end", "run_end failed"],
  },
  "a cancelled run whose request was lost": {
    turns: [text("one")],
    begin: (harness) => harness.prompt("go"),
    stop: ["provider_request"],
    isCancelled: true,
    told: [resumed, "turn_start (recovery)", ...RESPONSE, "turn_end", "run_end aborted"],
  },
  "a run that waited for another attempt": {
    turns: [[failure("overloaded"), text("one")]],
    begin: (harness) => harness.prompt("go"),
    stop: ["sleep"],
    told: [
      resumed,
      "turn_start (recovery)",
      "retry_start",
      ...RESPONSE,
      "retry_end",
      "turn_end",
      "run_end completed",
    ],
  },
  "a run whose call was lost": {
    turns: [calls({ id: "c1", name: "read" }), text("done")],
    begin: (harness) => harness.prompt("go"),
    stop: ["tool_execution"],
    told: [
      ...[resumed, "turn_start (recovery)", "tool_start c1 (recovery)", "tool_end c1 (recovery)", ...RESULT],
      ...["turn_end", ...TURN, "run_end completed"],
    ],
  },
  "a run whose call was not begun": {
    turns: [calls({ id: "c1", name: "read" }), text("done")],
    begin: (harness) => harness.prompt("go"),
    stop: ["commit_transition", "tool_cleared"],
    told: [
      ...[resumed, "turn_start (recovery)", "tool_start c1", "tool_end c1", ...RESULT, "turn_end"],
      ...[...TURN, "run_end completed"],
    ],
  },
  "a cancelled run whose call was lost": {
    turns: [calls({ id: "c1", name: "read" })],
    begin: (harness) => harness.prompt("go"),
    stop: ["tool_execution"],
    isCancelled: true,
    told: [
      ...[resumed, "turn_start (recovery)", "tool_start c1 (recovery)", "tool_end c1 (recovery)", ...RESULT],
      ...["turn_end", "run_end aborted"],
    ],
  },
  "a run at its end": {
    turns: [text("one")],
    begin: (harness) => harness.prompt("go"),
    stop: ["commit_terminal"],
    told: [resumed, "run_end completed"],
  },
  "a compaction of a caller before its hooks": {
    turns: [text("one"), text("two")],
    summaries: [text("SUMMARY")],
    before: ["first", "second"],
    begin: (harness) => harness.compact(),
    stop: ["commit_transition", "summary_started"],
    told: [
      ...[resumed, "compaction_start (recovery)", "usage", "usage"],
      ...["entry_added compaction", "compaction_end completed"],
    ],
  },
  "a compaction of a caller whose request was lost, with none left": {
    turns: [text("one"), text("two")],
    summaries: [text("SUMMARY")],
    before: ["first", "second"],
    begin: (harness) => harness.compact(),
    stop: ["provider_request"],
    retries: 0,
    told: [resumed, "compaction_start (recovery)", "compaction_end failed"],
  },
  "a compaction within a run": {
    turns: [text("one"), [overflow, text("two")]],
    summaries: [text("SUMMARY")],
    before: ["first"],
    begin: (harness) => harness.prompt("second"),
    stop: ["commit_transition", "summary_started"],
    told: [
      ...[
        resumed,
        "compaction_start (recovery)",
        "usage",
        "entry_added compaction",
        "compaction_end completed",
      ],
      ...[...TURN, "run_end completed"],
    ],
  },
  "a navigation with a summary": {
    turns: [text("one"), text("two")],
    summaries: [text("SUMMARY")],
    before: ["first", "second"],
    begin: (harness, oldestEntryId) => harness.navigateTree(oldestEntryId, { summarize: true }),
    stop: ["provider_request"],
    told: [
      ...[resumed, "navigation_start (recovery)", "retry_start", "usage"],
      ...["entry_added branch_summary", "retry_end", "navigation_end completed"],
    ],
  },
};

describe("what a resume tells after a crash, from the first event to the last, of", () => {
  it.each(Object.entries(RECOVERED))("%s", async (_name, row) => {
    const { turns, summaries = [], before = [], begin, stop, isCancelled, retries = 1, told } = row;
    const world = new World(...turns);
    world.summaries = summaries;
    const options = {
      tools: [world.tool("read")],
      retry: { ...RETRY, maxRetries: retries },
      compaction: COMPACT,
    };
    const talk = await world.boot(options);
    for (const said of before) await talk.harness.prompt(said);
    const from = before.length === 0 ? "" : await oldest(talk.harness);
    await talk.harness.close();
    const first = await world.boot({ ...options, drive: "manual" });
    begin(first.harness, from).catch(() => undefined);
    await stepTo(first.harness, ...stop);
    if (isCancelled) await first.harness.abort();
    await first.harness.close();
    const { harness } = await world.boot(options);
    const { words } = await listening(harness);
    await harness.resume();
    expect(words).toEqual(told);
  });
});

it("calls that were lost are told again, whether they are run again or given up", async () => {
  const world = new World(calls({ id: "c1", name: "once" }, { id: "c2", name: "again" }), text("done"));
  const opened = gate();
  const wait = async () => {
    await opened.opened;
    return { details: {} };
  };
  const waiting = [
    world.tool("once", { execute: wait }),
    world.tool("again", { replay: "safe", execute: wait }),
  ];
  const first = await world.boot({ tools: waiting });
  first.harness.prompt("go").catch(() => undefined);
  while (world.executions.length < 2) await Promise.resolve();
  await first.harness.close();
  const second = await world.boot({ tools: [world.tool("once"), world.tool("again", { replay: "safe" })] });
  const { words } = await listening(second.harness);
  await second.harness.resume();
  expect(words).toEqual([
    "run_resume (recovery)",
    "turn_start (recovery)",
    "tool_start c1 (recovery)",
    "tool_end c1 (recovery)",
    ...RESULT,
    "tool_start c2 (recovery)",
    "tool_end c2 (recovery)",
    ...RESULT,
    ...["turn_end", "turn_start", ...RESPONSE, "turn_end", "run_end completed"],
  ]);
});

it("the end of a turn that is taken up has every result, also those of the process before, and is told for the first time", async () => {
  const world = new World(calls({ id: "c1", name: "read" }, { id: "c2", name: "read" }), text("done"));
  const options = { tools: [world.tool("read")], toolExecution: "sequential" } as const;
  const first = await world.boot({ ...options, drive: "manual" });
  first.harness.prompt("go").catch(() => undefined);
  await stepTo(first.harness, "commit_settlement", "tool:");
  await first.harness.executeAction();
  await first.harness.close();
  const { harness } = await world.boot(options);
  const { events } = await listening(harness);
  await harness.resume();
  const end = events.find(({ type }) => type === "turn_end");
  expect(end).toMatchObject({ toolResults: [{ toolCallId: "c1" }, { toolCallId: "c2" }] });
  expect(end).not.toHaveProperty("recovery");
});
