import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** Somebody else ends the run while an answer is settled: the answer is not stored, or it is. */
export default {
  name: "end-outside-vs-settlement",
  row: {
    pair: "external finalization × settlement",
    first: "the answer is dropped, and nothing is written after the end",
    second: "the answer stays",
  },
  scenario: oneAnswer(),
  orders: [
    {
      name: "end-first",
      schedule: [{ at: { before: "settle assistant" }, call: { call: "endOutside" } }],
      proof: ["effect provider.request", "commit terminal.outside"],
      absent: ["commit generation.settle.finish"],
      answers: { endOutside: "ended", prompt: "aborted" },
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
    {
      name: "settlement-first",
      schedule: [{ at: { after: "settle assistant" }, call: { call: "endOutside" } }],
      proof: ["commit generation.settle.finish", "commit terminal.outside"],
      answers: { endOutside: "ended", prompt: "aborted" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "nobody ended the run",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
      lacks: "endOutside",
    },
  ],
} as const satisfies Race;
