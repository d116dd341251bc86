import type { Race } from "../src/faults/index.ts";
import { oneDeferredAnswer } from "./workloads.ts";

/** A cancellation and an answer that is put off: the run is cancelled, whether its drive is still there or has left. */
export default {
  name: "abort-vs-suspension",
  row: {
    pair: "abort × suspension",
    first: "the drive ends the run itself",
    second: "the abort begins a drive of its own, which ends it",
  },
  scenario: oneDeferredAnswer(),
  orders: [
    {
      name: "abort-first",
      schedule: [{ at: { before: "settle assistant" }, call: { call: "abort" } }],
      proof: ["effect provider.request", "answer abort *", "commit generation.settle*"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      name: "suspension-first",
      schedule: [{ at: { after: "settle assistant" }, call: { call: "abort" } }],
      proof: ["commit generation.settle*", "answer abort *", "commit terminal*"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, deferred: ", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "the run had ended, or nobody cancelled it",
      history: [
        "user: Go.",
        "assistant, deferred: ",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
      lacks: "abort",
    },
    {
      why: "it was cancelled when the answer had come after all and was stored",
      history: [
        "user: Go.",
        "assistant, deferred: ",
        "assistant, stop: Done.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "or while it was asked for",
      history: [
        "user: Go.",
        "assistant, deferred: ",
        "assistant, aborted: Done.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "or before it was asked for",
      history: ["user: Go.", "assistant, deferred: ", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before a request was sent",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
  ],
} as const satisfies Race;
