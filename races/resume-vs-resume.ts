import type { Race } from "../src/faults/index.ts";
import { oneDeferredAnswer } from "./workloads.ts";

/** Two callers resume one suspended operation: one drives it, the other finds the lane busy, and one poll is sent. */
export default {
  name: "resume-vs-resume",
  row: {
    pair: "resume × resume",
    first: "the first drives the operation",
    second: "the other is told that the lane is busy",
  },
  scenario: oneDeferredAnswer(),
  orders: [
    {
      name: "one-first",
      schedule: [{ at: { besideCall: "resume" }, call: { call: "resume" }, as: "other" }],
      proof: ["call resume", "call other", "answer other *"],
      answers: { resume: "completed", other: "LaneBusy" },
      history: [
        "user: Go.",
        "assistant, deferred: ",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
    {
      name: "other-first",
      schedule: [{ at: { beforeCall: "resume" }, call: { call: "resume" }, as: "other" }],
      proof: ["call other", "call resume", "answer resume *"],
      answers: { resume: "LaneBusy", other: "completed" },
      history: [
        "user: Go.",
        "assistant, deferred: ",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
  ],
} as const satisfies Race;
