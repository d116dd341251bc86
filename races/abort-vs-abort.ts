import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** Two cancellations: the first is written, and the second answers the same and writes nothing. */
export default {
  name: "abort-vs-abort",
  row: { pair: "abort × abort", first: "the first cancels", second: "the other answers the same" },
  scenario: oneAnswer(),
  orders: [
    {
      name: "one-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "abort" }, as: "one" },
        { at: { before: "settle assistant" }, call: { call: "abort" }, as: "other" },
      ],
      proof: ["answer one *", "answer other *", "commit generation.settle.aborted"],
      answers: { one: "cancelled", other: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
    {
      name: "other-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "abort" }, as: "other" },
        { at: { before: "settle assistant" }, call: { call: "abort" }, as: "one" },
      ],
      proof: ["answer other *", "answer one *", "commit generation.settle.aborted"],
      answers: { one: "cancelled", other: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "the answer was lost with the process",
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before it asked for anything",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled when the answer was stored",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run aborted"],
    },
    {
      why: "both came when the run had ended",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
  ],
} as const satisfies Race;
