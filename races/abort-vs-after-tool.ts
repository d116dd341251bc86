import type { Race } from "../src/faults/index.ts";
import { oneCall } from "./workloads.ts";

/** A cancellation before a hook has the last word on a result: the hook is not asked, or its word stands. */
export default {
  name: "abort-vs-after-tool",
  row: {
    pair: "abort × not-yet-started `after_tool`",
    first: "the hook is not asked",
    second: "what it made of the result is stored",
  },
  scenario: oneCall({ rewrites: { result: "redacted" } }),
  orders: [
    {
      name: "abort-first",
      schedule: [{ at: { before: "hook after_tool" }, call: { call: "abort" } }],
      proof: ["effect tool.execute", "answer abort *", "commit tool.settle.last"],
      absent: ["asked after_tool"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "lane main: idle, run aborted",
      ],
    },
    {
      name: "hook-first",
      schedule: [{ at: { after: "hook after_tool" }, call: { call: "abort" } }],
      proof: ["asked after_tool", "answer abort *", "commit tool.settle.last"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: redacted",
        "lane main: idle, run aborted",
      ],
    },
  ],
  elsewhere: [
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
      why: "the run was cancelled before it asked for anything",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before a request was sent, or its answer was lost",
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled while a request was answered",
      history: ["user: Go.", "assistant, aborted: calls look call-1", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled before the call was started",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1, error: The tool call was not executed: the caller cancelled the run before look was started.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "the run was cancelled before a request was sent, or its answer was lost",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: redacted",
        "assistant, aborted: ",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "it was cancelled while a request was answered",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: redacted",
        "assistant, aborted: Done.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "it was cancelled when the last answer was stored",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: redacted",
        "assistant, stop: Done.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "nobody cancelled the run",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: redacted",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
      lacks: "abort",
    },
  ],
} as const satisfies Race;
