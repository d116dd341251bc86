import type { Race } from "../src/faults/index.ts";
import { oneCall } from "./workloads.ts";

/** A cancellation and a call of a tool: one that was not started is never executed, one that was keeps its result. */
export default {
  name: "abort-vs-tool-result",
  row: {
    pair: "abort × tool result commit",
    first: "the planned result is synthetic",
    second: "the real result stands",
  },
  scenario: oneCall(),
  orders: [
    {
      name: "abort-first",
      schedule: [{ at: { before: "execute look" }, call: { call: "abort" } }],
      proof: ["answer abort *", "commit tool.*"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1, error: The tool call was not executed: the caller cancelled the run before look was started.",
        "lane main: idle, run aborted",
      ],
    },
    {
      name: "result-first",
      schedule: [{ at: { after: "settle tool 0" }, call: { call: "abort" } }],
      proof: ["commit tool.settle*", "answer abort *"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "lane main: idle, run aborted",
      ],
    },
  ],
  elsewhere: [
    {
      why: "the run was cancelled before it asked for anything",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
    {
      why: "before its request was sent",
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "while it was answered",
      history: ["user: Go.", "assistant, aborted: calls look call-1", "lane main: idle, run aborted"],
    },
    {
      why: "before the second request was sent",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "assistant, aborted: ",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "while that was answered",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "assistant, aborted: Done.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "when that answer was stored",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "assistant, stop: Done.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "the process died while the call was under way, and the run was cancelled before it was repeated",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1, error: The tool call was interrupted: the process ended after look had been started and before its result was stored. It may have taken effect, in whole or in part. It was not run again.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "nobody cancelled the run",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
      lacks: "abort",
    },
  ],
} as const satisfies Race;
