import { describe, expect, it } from "vitest";
import type { AgentMessage, Entry } from "../model/index.ts";
import { type BranchInput, prepareBranch } from "./branch-preparation.ts";
import { assistant, result } from "./testing/states.ts";

const user = (name: string): AgentMessage => ({ role: "user", content: name.padEnd(40, "."), timestamp: 1 });
let count = 0;
const place = () => ({ id: `n${count++}`, parentId: null, seq: count, timestamp: 1 });
const said = (message: AgentMessage): Entry => ({ type: "message", ...place(), message });
const summary = { summary: "s".repeat(40), fromHook: false } as const;
const left = (details?: Extract<Entry, { type: "branch_summary" }>["details"]): Entry => ({
  type: "branch_summary",
  ...place(),
  ...summary,
  fromId: "x",
  ...(details === undefined ? {} : { details }),
});
const compacted = (): Entry => ({
  type: "compaction",
  ...place(),
  ...summary,
  retainedTail: [user("kept")],
  tokensBefore: 1,
});
const roles = (entries: readonly Entry[], budget: number, more: Partial<BranchInput> = {}) =>
  prepareBranch({ entries, projections: new Map(), contextWindow: budget + 5, reserveTokens: 5, ...more })
    .messages.map(({ role }) => role)
    .join(" ");

describe("the preparation of a branch summary", () => {
  it("takes messages, summaries and projected entries, without tool results and failed responses", () => {
    const custom: Entry = { type: "custom", ...place(), id: "c", customType: "note" };
    const entries = [
      said(user("u")),
      said(assistant("toolUse")),
      said(result(0)),
      said(assistant("error")),
      compacted(),
      left(),
      custom,
    ];
    const projections = new Map([["c", [user("p")]]]);
    expect(roles(entries, 1000, { projections })).toBe("user assistant compactionSummary branchSummary user");
    expect(roles(entries, 1000)).toBe("user assistant compactionSummary branchSummary");
  });

  it.each([
    ["the newest messages that fit", [said(user("1")), said(user("2")), said(user("3"))], 25, "user user"],
    ["a summary that overshoots a little", [compacted(), said(user("2"))], 15, "compactionSummary user"],
    ["no summary once the budget is nearly full", [left(), said(user("2"))], 11, "user"],
    ["nothing older than what did not fit", [left(), said(user("1")), said(user("2"))], 15, "user"],
    ["everything without a budget", [said(user("1")), said(user("2"))], 0, "user user"],
  ])("takes %s", (_name, entries, budget, expected) => {
    expect(roles(entries, budget)).toBe(expected);
  });

  it("counts its tokens, and has none for an empty branch", () => {
    const of = (entries: readonly Entry[]) => prepareBranch({ entries, projections: new Map() });
    expect(of([said(user("1")), said(user("2"))]).totalTokens).toBe(20);
    expect(of([])).toEqual({
      kind: "branch_summary",
      messages: [],
      fileOps: { read: [], written: [], edited: [] },
      totalTokens: 0,
    });
  });

  it("falls back to a common window where the model is unknown", () => {
    const big = said({ role: "user", content: "x".repeat(4 * 111_617), timestamp: 1 });
    expect(prepareBranch({ entries: [big], projections: new Map() }).messages).toEqual([]);
  });

  it("knows the files of every generated branch summary, inside the budget or not", () => {
    const entries = [left({ readFiles: ["r"], modifiedFiles: ["m"] }), said(user("1")), said(user("2"))];
    const { fileOps, messages } = prepareBranch({
      entries,
      projections: new Map(),
      contextWindow: 11,
      reserveTokens: 1,
    });
    expect(messages).toHaveLength(1);
    expect(fileOps).toEqual({ read: ["r"], written: [], edited: ["m"] });
  });
});
