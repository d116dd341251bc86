/** What a provider is shown, held against the branch; and the job that is polled, against the one that was put off. */
import { describe, expect, it } from "vitest";
import type { ShownMessage } from "../faults/index.ts";
import type { AgentMessage, Entry } from "../model/index.ts";
import { poll, suspended } from "./testing/deferred-histories.ts";
import { History } from "./testing/history.ts";
import { signatures } from "./testing/judging.ts";
import { attempt, compacting, generate } from "./testing/structural-histories.ts";
import { assistant, drop, set } from "./testing/values.ts";

const found = (history: History) => signatures(history, "provider-context");
const OTHER = ["context other than the branch"];

const usage = { input: 10, output: 5 };
const shows = (history: History, ...shown: readonly ShownMessage[]) =>
  history.effect({ kind: "request", turn: 1, ask: 1, usage, shown });

const go: ShownMessage = { by: "user", text: "go" };
const asks: ShownMessage = { by: "model", text: "", calls: ["call_1"] };
const answers: ShownMessage = { by: "tool", text: "result", answers: "call_1" };

const asked = () => new History().seed().prompt().ready().intent();
const askedAgain = () =>
  asked()
    .request(0)
    .settleTools([{ id: "call_1", name: "read" }])
    .toolIntent(0, "safe")
    .execute("call_1", "read")
    .toolSettle(0)
    .ready()
    .intent();

/** A request whose branch ends with these entries, from the root; each hangs below the one before it. */
function below(...drafts: readonly object[]): History {
  const history = asked();
  const entries = drafts.map((draft, index) => ({
    ...draft,
    id: `entry-${index}`,
    parentId: index === 0 ? null : `entry-${index - 1}`,
  }));
  return history.commit("stray", [
    ...entries.map((entry) => ({
      kind: "entry" as const,
      entry: entry as Omit<Entry, "seq" | "timestamp"> as never,
    })),
    set("lane.leaf", "main", `entry-${entries.length - 1}`),
  ]);
}
const says = (message: AgentMessage) => ({ type: "message", message });
const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 0 });
const summarized = (summary: string, ...retainedTail: AgentMessage[]) => {
  return { type: "compaction", summary, retainedTail, tokensBefore: 1, fromHook: false };
};

describe("the context of a request", () => {
  it("is the branch, with each call and its answer", () => {
    expect(found(shows(asked(), go))).toEqual([]);
    expect(found(shows(askedAgain(), go, asks, answers))).toEqual([]);
  });

  it.each<[string, readonly ShownMessage[]]>([
    ["a message less", [go, asks]],
    ["one more", [go, asks, answers, go]],
    ["another order", [asks, answers, go]],
    ["another text", [{ ...go, text: "stop" }, asks, answers]],
    ["another speaker", [{ ...go, by: "model" }, asks, answers]],
    ["calls that are not there", [go, { ...asks, calls: ["call_1", "call_2"] }, answers]],
    ["the answer of another call", [go, asks, { ...answers, answers: "call_2" }]],
    ["nothing", []],
  ])("is not %s", (_, shown) => {
    expect(found(shows(askedAgain(), ...shown))).toEqual(OTHER);
  });

  it("leaves out what failed, was cancelled or put off", () => {
    const failed = assistant("error", { errorMessage: "overloaded" });
    const cancelled = assistant("aborted", { errorMessage: "aborted" });
    expect(found(shows(below(says(user("go")), says(failed), says(cancelled)), go))).toEqual([]);
  });

  it("begins with the newest compaction, and goes on with what that has kept", () => {
    const history = () =>
      below(
        says(user("old")),
        summarized("In short."),
        summarized("Shorter.", user("kept")),
        says(user("go")),
      );
    const summary: ShownMessage = { by: "user", text: "It was said: Shorter. That is all." };
    const kept: ShownMessage = { by: "user", text: "kept" };
    expect(found(shows(history(), summary, kept, go))).toEqual([]);
    expect(found(shows(history(), kept, go))).toEqual(OTHER);
    expect(found(shows(history(), { ...summary, text: "In short." }, kept, go))).toEqual(OTHER);
    expect(found(shows(history(), summary, go))).toEqual(OTHER);
  });

  it("has an answer for a call that has none, whatever it says", () => {
    const open = assistant("toolUse", {
      content: [{ type: "toolCall", id: "call_1", name: "read", arguments: {} }],
    });
    const history = () => below(says(open), says(user("go")));
    expect(found(shows(history(), asks, { ...answers, text: "It has none." }, go))).toEqual([]);
    expect(found(shows(history(), asks, go))).toEqual(OTHER);
  });

  it("is not asked for where the adapter does not say it, and not where something overtook the request", () => {
    expect(found(asked().request(0))).toEqual([]);
    const late = { kind: "request", turn: 0, ask: 1, usage, shown: [] } as const;
    expect(found(asked().effect(late, 1))).toEqual([]);
  });
});

describe("a request for a summary", () => {
  const prepared = (...messages: readonly string[]) => ({
    kind: "compaction",
    messagesToSummarize: messages.map(user),
    turnPrefixMessages: [user("three")],
    retainedTail: [],
    isSplitTurn: true,
    tokensBefore: 1,
    fileOps: { read: [], written: [], edited: [] },
    settings: { enabled: true, reserveTokens: 1, keepRecentTokens: 1 },
  });
  const tells = (index: number, told: string) => {
    const history = attempt(generate(compacting()));
    const [{ key } = { key: "" }] = history.model.registers("op.preparation");
    return history
      .commit("stray", [
        // An earlier compaction of a run leaves what was prepared for it, here in front, until the run ends.
        drop("op.preparation", key),
        set("op.preparation", `${history.operationId}:earlier`, prepared("zero") as never),
        set("op.preparation", key, prepared("one", "two") as never),
      ])
      .effect({ kind: "summary", task: 0, index, attempt: 1, usage, told });
  };

  it("tells of every message that the summary will stand for, in their order", () => {
    expect(found(tells(0, "There are one, two."))).toEqual([]);
    expect(found(tells(1, "And three."))).toEqual([]);
    expect(found(tells(0, "There is two."))).toEqual(["a summarizer is not told"]);
    expect(found(tells(0, "There are two, one."))).toEqual(["a summarizer is not told"]);
    expect(found(tells(1, "There are one, two."))).toEqual(["a summarizer is not told"]);
  });
});

describe("a poll", () => {
  const polls = (job: string) => poll(suspended()).effect({ kind: "request", turn: 0, ask: 2, usage, job });

  it("names the job that was put off", () => {
    expect(found(polls("job"))).toEqual([]);
    expect(found(polls("another"))).toEqual(["poll of another job"]);
  });
});
