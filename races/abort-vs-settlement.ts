import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A cancellation and an answer: the answer is stored as cancelled, or as what it is; the run is cancelled either way. */
export default {
  name: "abort-vs-settlement",
  row: {
    pair: "abort × response settlement",
    first: "marker first: the response is stored as aborted",
    second: "response first: its stop reason stays",
  },
  scenario: oneAnswer(),
  orders: [
    {
      name: "abort-first",
      schedule: [{ at: { before: "settle assistant" }, call: { call: "abort" } }],
      proof: ["effect provider.request", "answer abort *", "commit generation.settle*"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
    {
      name: "response-first",
      schedule: [{ at: { after: "settle assistant" }, call: { call: "abort" } }],
      proof: ["commit generation.settle*", "answer abort *", "commit terminal*"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "the run had ended, or nobody cancelled it",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
      lacks: "abort",
    },
    {
      why: "it was cancelled, and the answer was lost with the process or never given",
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before a request was sent",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
  ],
} as const satisfies Race;
