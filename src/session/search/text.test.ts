import { describe, expect, it } from "vitest";
import type { AgentMessage, Entry } from "../../model/index.ts";
import { sampleAssistant, sampleEntries, sampleMessages } from "../../model/samples.ts";
import { matchExpression, shown, textOf } from "./text.ts";

const entryOf = (message: unknown): Entry => ({
  type: "message",
  id: "e",
  parentId: null,
  seq: 1,
  timestamp: 1,
  message: message as AgentMessage,
});

describe("the text of an entry", () => {
  it.each([
    ["user text", "hi"],
    ["user blocks", "look"],
    ["assistant stop", "hello"],
    ["assistant error", undefined],
    ["toolResult", "x"],
    ["bashExecution", "ls\na"],
    ["custom", "n"],
    ["branchSummary", "s"],
    ["compactionSummary", "s"],
  ])("of the message %s is what people read of it", (name, expected) => {
    expect(textOf(entryOf(sampleMessages()[name]))).toBe(expected);
  });

  it("is none for entries that are no messages", () => {
    const { compaction, branch_summary, custom } = sampleEntries();
    expect([compaction, branch_summary, custom].map(textOf)).toEqual([undefined, undefined, undefined]);
  });

  it("of a role that an application brought is found where built-in roles have it", () => {
    expect(textOf(entryOf({ role: "note", content: [{ type: "text", text: "mine" }] }))).toBe("mine");
    expect(textOf(entryOf({ role: "note", body: "elsewhere" }))).toBeUndefined();
    expect(textOf(entryOf({ role: "note", content: [null, 7, { type: "text" }] }))).toBeUndefined();
  });

  it("has neither thinking nor arguments", () => {
    const text = textOf(entryOf(sampleAssistant()));
    expect(text).not.toContain("hm");
    expect(text).not.toContain("a.txt");
  });

  it("keeps characters of scripts without spaces apart, and is shown as it was", () => {
    const text = textOf(entryOf({ role: "user", content: "auth 数据迁移 v2カタ", timestamp: 1 })) ?? "";
    expect(text.split(/[\s\u200b]+/)).toEqual(["auth", "数", "据", "迁", "移", "v2", "カ", "タ"]);
    expect(shown(text)).toBe("auth 数据迁移 v2カタ");
  });
});

describe("a query", () => {
  it.each([
    ["auth migration", '"auth" "migration"'],
    ['say "so" OR not', '"say" """so""" "OR" "not"'],
    ["a* -b (c) ^d text:e", '"a*" "-b" "(c)" "^d" "text:e"'],
    ["迁移", '"迁\u200b移"'],
    ["  ", undefined],
    ["--- *", undefined],
    ["--- x", '"x"'],
    ["a\0b", '"a" "b"'],
  ])("%s is taken as words", (text, expected) => {
    expect(matchExpression(text)).toBe(expected);
  });
});
