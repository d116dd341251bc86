import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A correction and a cancellation: what was queued is drained, what comes later is refused. */
export default {
  name: "steer-vs-abort",
  row: { pair: "steer × abort", first: "it is drained with the run", second: "it is refused" },
  scenario: oneAnswer(),
  orders: [
    {
      name: "steer-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "steer", text: "Hurry." } },
        { at: { before: "settle assistant" }, call: { call: "abort" } },
      ],
      proof: ["commit queue.steer", "commit abort"],
      answers: { steer: "queued", abort: "cancelled" },
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
    {
      name: "abort-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "abort" } },
        { at: { before: "settle assistant" }, call: { call: "steer", text: "Hurry." } },
      ],
      proof: ["commit abort", "answer steer NoActiveRun"],
      absent: ["commit queue.steer"],
      answers: { steer: "NoActiveRun", abort: "cancelled" },
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "it was cancelled, and the answer was lost with the process",
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
  ],
} as const satisfies Race;
