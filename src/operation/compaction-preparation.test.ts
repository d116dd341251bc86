import { describe, expect, it } from "vitest";
import { seededRandom } from "../foundation/index.ts";
import type { AgentMessage, Entry, SettledAssistantMessage } from "../model/index.ts";
import { type CompactionInput, prepareCompaction } from "./compaction-preparation.ts";
import { assistant } from "./testing/states.ts";

/** Ten tokens each, told apart by their first letter. */
const words = (name: string) => name.padEnd(40, ".");
const user = (name: string): AgentMessage => ({ role: "user", content: words(name), timestamp: 1 });
const answer = (name: string, stopReason: SettledAssistantMessage["stopReason"] = "stop"): AgentMessage =>
  assistant(stopReason, { content: [{ type: "text", text: words(name) }] });
const result = (name: string): AgentMessage => ({
  role: "toolResult",
  toolCallId: "c",
  toolName: "read",
  content: [{ type: "text", text: words(name) }],
  isError: false,
  timestamp: 1,
});
const bash = (name: string): AgentMessage => ({
  role: "bashExecution",
  command: words(name),
  output: "",
  cancelled: false,
  truncated: false,
  timestamp: 1,
});

let count = 0;
const place = () => ({ id: `n${count++}`, parentId: null, seq: count, timestamp: 1 });
const said = (message: AgentMessage): Entry => ({ type: "message", ...place(), message });
const custom = (id: string): Entry => ({ type: "custom", ...place(), id, customType: "note" });
const left = (summary: string): Entry => ({
  type: "branch_summary",
  ...place(),
  fromId: "x",
  summary,
  fromHook: false,
});
const compacted = (changes: Partial<Extract<Entry, { type: "compaction" }>> = {}): Entry => ({
  type: "compaction",
  ...place(),
  summary: "before",
  retainedTail: [],
  tokensBefore: 1,
  fromHook: false,
  ...changes,
});

const prepare = (entries: readonly Entry[], keepRecentTokens: number, more: Partial<CompactionInput> = {}) =>
  prepareCompaction({
    entries,
    projections: new Map(),
    tokensBefore: 99.5,
    settings: { enabled: true, reserveTokens: 100, keepRecentTokens },
    ...more,
  });

const name = (message: AgentMessage): string => {
  switch (message.role) {
    case "bashExecution":
      return message.command.replaceAll(".", "");
    case "branchSummary":
    case "compactionSummary":
      return message.summary;
    default: {
      const { content } = message as Extract<AgentMessage, { role: "user" }>;
      const [first] = typeof content === "string" ? [{ type: "text", text: content }] : content;
      return first?.type === "text" ? (first as { text: string }).text.replaceAll(".", "") : "?";
    }
  }
};
const shape = (preparation: ReturnType<typeof prepare>) =>
  preparation && [
    preparation.messagesToSummarize.map(name).join(" "),
    preparation.turnPrefixMessages.map(name).join(" "),
    preparation.retainedTail.map(name).join(" "),
    preparation.isSplitTurn,
  ];

const two = () => [said(user("u1")), said(answer("a1")), said(user("u2")), said(answer("a2"))];
const long = () => [said(user("u1")), said(answer("a1")), said(result("r1")), said(answer("a2"))];

describe("the cut of a compaction", () => {
  it.each([
    ["between two turns", two(), 20, ["u1 a1", "", "u2 a2", false]],
    ["within a turn, whose beginning is summarized by itself", two(), 10, ["u1 a1", "u2", "a2", true]],
    ["never before a tool result", long(), 20, ["", "u1 a1 r1", "a2", true]],
    ["at the newest message with a budget of 0", two(), 0, ["u1 a1", "u2", "a2", true]],
    [
      "at the newest possible place if only tool results follow it",
      [said(user("u1")), said(answer("a1")), said(result("r1"))],
      10,
      ["", "u1", "a1 r1", true],
    ],
    [
      "with a custom entry that precedes it kept, and the turn before it as the split one",
      [said(user("u1")), said(answer("a1")), custom("c"), said(user("u2"))],
      10,
      ["", "u1 a1", "u2", true],
    ],
    [
      "at a branch summary, which is a turn of its own",
      [said(user("u1")), left("left"), said(answer("a1"))],
      10,
      ["u1", "", "left a1", true],
    ],
    [
      "at a shell command, which begins a turn",
      [said(user("u1")), said(bash("b1")), said(answer("a1"))],
      20,
      ["u1", "", "b1 a1", true],
    ],
    [
      "without responses that stand in no context",
      [said(user("u1")), said(answer("x", "error")), said(answer("a1")), said(user("u2"))],
      10,
      ["u1 a1", "", "u2", false],
    ],
  ])("falls %s", (_name, entries, budget, expected) => {
    expect(shape(prepare(entries, budget))).toEqual(expected);
  });

  it.each([
    ["an empty branch", [], 0],
    ["a branch that ends with a compaction", [...two(), compacted()], 0],
    ["a branch within the budget", two(), 1000],
    ["a branch without a place for a cut", [said(result("r1"))], 0],
  ])("does not fall in %s", (_name, entries, budget) => {
    expect(prepare(entries, budget)).toBeUndefined();
  });

  it("reads nothing older than the newest compaction, and goes on from its tail and summary", () => {
    const entries = [
      said(user("old")),
      compacted({ retainedTail: [user("kept"), answer("a0", "aborted")] }),
      said(answer("a1")),
      said(user("u2")),
    ];
    const preparation = prepare(entries, 10);
    expect(shape(preparation)).toEqual(["kept a1", "", "u2", false]);
    expect(preparation).toMatchObject({ previousSummary: "before", tokensBefore: 100 });
  });

  it("counts a response that is about to be committed as an entry, and leaves it out", () => {
    const settled = {
      type: "message",
      id: "R",
      parentId: null,
      message: assistant("error", { errorMessage: "prompt is too long" }),
    } as const;
    const tail = [user("u1"), answer("a1"), user("u2")];
    const entries = [compacted({ retainedTail: tail }), settled];
    const settings = { enabled: true, reserveTokens: 1, keepRecentTokens: 10 };
    const preparation = prepareCompaction({ entries, projections: new Map(), tokensBefore: 1, settings });
    expect(shape(preparation)).toEqual(["u1 a1", "", "u2", false]);
    expect(prepare(entries.slice(0, 1) as Entry[], 10)).toBeUndefined();
  });

  it("takes projected custom entries at their place", () => {
    const entries = [said(user("u1")), custom("c"), said(user("u2"))];
    const projections = new Map([["c", [answer("p1")]]]);
    expect(shape(prepare(entries, 10, { projections }))).toEqual(["u1 p1", "", "u2", false]);
  });
});

describe("the parts of a preparation", () => {
  it("are all messages of the branch, each once and in order, whatever the branch and the budget", () => {
    const random = seededRandom(20_261_130);
    for (let run = 0; run < 500; run++) {
      const entries: Entry[] = [];
      const names: string[] = [];
      const length = random.nextInt(12);
      for (let index = 0; index < length; index++) {
        const each = `m${index}`;
        const kind = random.nextInt(6);
        const message = [user, answer, result, bash][kind]?.(each);
        if (message) entries.push(said(message));
        else entries.push(kind === 4 ? left(each) : custom(each));
        if (message || kind === 4) names.push(each);
      }
      const budget = random.nextInt(60);
      const preparation = prepare(entries, budget);
      if (preparation === undefined) continue;
      const { messagesToSummarize, turnPrefixMessages, retainedTail } = preparation;
      const parts = [...messagesToSummarize, ...turnPrefixMessages, ...retainedTail].map(name);
      expect(parts, `run ${run} of seed 20261130, budget ${budget}`).toEqual(names);
      expect(retainedTail[0]?.role, `run ${run} of seed 20261130`).not.toBe("toolResult");
    }
  });
});

describe("file operations", () => {
  const call = (tool: string, path: unknown) =>
    said(
      assistant("toolUse", {
        content: [{ type: "toolCall", id: "c", name: tool, arguments: { path } as never }],
      }),
    );

  it("come from the summarized calls and from the details of the newest generated compaction", () => {
    const entries = [
      compacted({ details: { readFiles: ["old"], modifiedFiles: ["changed"] } }),
      call("read", "b"),
      call("read", "a"),
      call("write", "w"),
      call("edit", "e"),
      call("run", "no"),
      call("read", 7),
      said(user("u2")),
      call("read", "tail"),
    ];
    expect(prepare(entries, 15)?.fileOps).toEqual({
      read: ["a", "b", "old"],
      written: ["w"],
      edited: ["changed", "e"],
    });
  });

  it.each([
    ["of a hook", { fromHook: true, details: { readFiles: ["x"], modifiedFiles: [] } }],
    ["of another shape", { details: { readFiles: "x", modifiedFiles: [] } }],
    ["that are absent", {}],
  ])("ignore details %s", (_name, changes) => {
    const entries = [compacted(changes), said(user("u1")), said(answer("a1")), said(user("u2"))];
    expect(prepare(entries, 10)?.fileOps).toEqual({ read: [], written: [], edited: [] });
  });
});
