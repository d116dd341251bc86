import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A cancellation before a hook has the last word on an answer: the hook is not asked, or its word stands. */
export default {
  name: "abort-vs-after-response",
  row: {
    pair: "abort × not-yet-started `after_response`",
    first: "the hook is not asked",
    second: "what it made of the answer is stored",
  },
  scenario: { ...oneAnswer(), rewrites: { response: "Rewritten." } },
  orders: [
    {
      name: "abort-first",
      schedule: [{ at: { before: "hook after_response" }, call: { call: "abort" } }],
      proof: ["effect provider.request", "answer abort *", "commit generation.settle.aborted"],
      absent: ["asked after_response"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
    {
      name: "hook-first",
      schedule: [{ at: { after: "hook after_response" }, call: { call: "abort" } }],
      proof: ["asked after_response", "answer abort *", "commit generation.settle.aborted"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, aborted: Rewritten.", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "it was cancelled, and the answer was lost with the process",
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before it asked for anything",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled when the answer was stored",
      history: ["user: Go.", "assistant, stop: Rewritten.", "lane main: idle, run aborted"],
    },
    {
      why: "nobody cancelled the run",
      history: ["user: Go.", "assistant, stop: Rewritten.", "lane main: idle, run completed"],
      lacks: "abort",
    },
  ],
} as const satisfies Race;
