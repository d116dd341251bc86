import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A write that waits in a run survives its cancellation, whichever comes first. */
export default {
  name: "write-vs-abort",
  row: { pair: "deferred write × abort", first: "the write survives", second: "the write survives" },
  scenario: oneAnswer(),
  orders: [
    {
      name: "write-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "appendMessage", text: "Note." } },
        { at: { before: "settle assistant" }, call: { call: "abort" } },
      ],
      proof: ["commit queue.write", "commit abort", "commit generation.settle.aborted"],
      answers: { abort: "cancelled", appendMessage: "appended" },
      history: ["user: Go.", "assistant, aborted: Done.", "user: Note.", "lane main: idle, run aborted"],
    },
    {
      name: "abort-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "abort" } },
        { at: { before: "settle assistant" }, call: { call: "appendMessage", text: "Note." } },
      ],
      proof: ["commit abort", "commit queue.write", "commit generation.settle.aborted"],
      answers: { abort: "cancelled", appendMessage: "appended" },
      history: ["user: Go.", "assistant, aborted: Done.", "user: Note.", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "the answer was lost with the process",
      history: ["user: Go.", "assistant, aborted: ", "user: Note.", "lane main: idle, run aborted"],
    },
  ],
} as const satisfies Race;
