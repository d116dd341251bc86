import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A session is forked while something is committed: the fork sees it whole, or not at all. */
export default {
  name: "fork-vs-commit",
  row: { pair: "`fork` × commit", first: "the fork is without it", second: "the fork has it" },
  scenario: oneAnswer(),
  orders: [
    {
      name: "fork-first",
      schedule: [{ at: { before: "settle assistant" }, call: { call: "fork" } }],
      proof: ["answer fork *", "commit generation.settle.finish"],
      answers: { fork: "1 entries", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    {
      name: "commit-first",
      schedule: [{ at: { after: "settle assistant" }, call: { call: "fork" } }],
      proof: ["commit generation.settle.finish", "answer fork *"],
      answers: { fork: "2 entries", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
  ],
} as const satisfies Race;
