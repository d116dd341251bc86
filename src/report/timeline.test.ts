/** The timeline is printed event by event, so that a reader sees where the process died and what followed. */
import { expect, it } from "vitest";
import type { Boundary, TimelineEvent } from "../faults/index.ts";
import { timelineReport } from "./timeline.ts";

const commit: Boundary = { kind: "commit", label: "tool.settle", occurrence: 1 };
const effect: Boundary = { kind: "effect", label: "tool.execute", occurrence: 1 };

it("prints one numbered line for each kind of event, in order", () => {
  const events: TimelineEvent[] = [
    { kind: "boot", incarnation: 0 },
    { kind: "commit", boundary: commit, payload: undefined },
    {
      kind: "effect",
      boundary: { ...effect, label: "provider.request" },
      row: { kind: "request", turn: 1, ask: 2, usage: { input: 1, output: 1 } },
    },
    {
      kind: "effect",
      boundary: effect,
      row: { kind: "tool", tool: "send", callId: "call-1", argumentsText: '{"to":"ACME"}' },
    },
    {
      kind: "effect",
      boundary: { ...effect, label: "provider.summary" },
      row: { kind: "summary", task: 1, index: 0, attempt: 3, usage: { input: 1, output: 1 } },
    },
    { kind: "effect", boundary: { ...effect, label: "hook.decide" }, row: { kind: "decision", task: 2 } },
    {
      kind: "effect",
      boundary: { ...effect, label: "provider.cancel" },
      row: { kind: "cancellation", job: "job-1" },
    },
    { kind: "call", name: "abort" },
    { kind: "answer", name: "abort", text: "ok" },
    { kind: "asked", name: "after_tool" },
    { kind: "timer", boundary: { ...effect, label: "timer.sleep" }, delayMs: 500 },
    { kind: "commit-failed", boundary: commit, payload: undefined, error: "StorageFault: full" },
    { kind: "crash", at: "tool.settle#1:after" },
    { kind: "boot", incarnation: 1 },
  ];
  expect(timelineReport(events)).toBe(
    [
      "   1  boot",
      "   2  commit  tool.settle#1",
      "   3  effect  provider.request#1  turn 1, ask 2",
      '   4  effect  tool.execute#1  send call-1 {"to":"ACME"}',
      "   5  effect  provider.summary#1  summary 1, request 0, attempt 3",
      "   6  effect  hook.decide#1  work 2",
      "   7  effect  provider.cancel#1  job job-1",
      "   8  call    abort",
      "   9  answer  abort  ok",
      "  10  hook    after_tool",
      "  11  timer   timer.sleep#1  500 ms",
      "  12  commit  tool.settle#1  FAILED: StorageFault: full",
      "  13  CRASH   tool.settle#1:after",
      "  14  boot again (life 2)",
      "",
    ].join("\n"),
  );
});

it("prints nothing of a run of which nothing was observed", () => {
  expect(timelineReport([])).toBe("");
});
