import type { Race } from "../src/faults/index.ts";
import { oneAnswer, SUMMARY } from "./workloads.ts";

/** A cancellation and the move of a lane with a summary of the branch that it leaves. */
export default {
  name: "abort-vs-navigation",
  row: {
    pair: "abort × structural commit: a navigation",
    first: "`aborted`, no entry",
    second: "`completed`",
  },
  scenario: {
    ...oneAnswer(),
    summaries: SUMMARY,
    stimuli: [
      { call: "prompt", text: "Go." },
      { call: "prompt", text: "On." },
      { call: "navigateTree", to: "Done.", summarize: true },
    ],
  },
  orders: [
    {
      name: "abort-first",
      schedule: [{ at: { before: "end navigation published" }, call: { call: "abort" } }],
      proof: ["commit structural.request.settle", "answer abort *"],
      answers: { abort: "cancelled", navigateTree: "aborted" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, stop: Done again.",
        "lane main: idle, navigation aborted",
      ],
    },
    {
      name: "navigation-first",
      schedule: [{ at: { after: "end navigation published" }, call: { call: "abort" } }],
      proof: ["commit navigation.generated", "answer abort *"],
      answers: { abort: "NoActiveOperation", navigateTree: "completed" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, stop: Done again.",
        "branch summary: What was done. (below 2)",
        "lane main: idle, navigation completed",
      ],
    },
  ],
  elsewhere: [
    {
      why: "a run before it was cancelled: before it asked for anything",
      history: ["user: Go.", "user: On.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    {
      why: "before its request was sent",
      history: [
        "user: Go.",
        "assistant, aborted: ",
        "user: On.",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
    {
      why: "while it was answered",
      history: [
        "user: Go.",
        "assistant, aborted: Done.",
        "user: On.",
        "assistant, stop: Done.",
        "branch summary: What was done. (below 2)",
        "lane main: idle, navigation completed",
      ],
    },
    {
      why: "the run right before it was cancelled: before it asked for anything",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "branch summary: What was done. (below 2)",
        "lane main: idle, navigation completed",
      ],
    },
    {
      why: "before its request was sent",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, aborted: ",
        "branch summary: What was done. (below 2)",
        "lane main: idle, navigation completed",
      ],
    },
    {
      why: "while it was answered",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, aborted: Done again.",
        "branch summary: What was done. (below 2)",
        "lane main: idle, navigation completed",
      ],
    },
  ],
} as const satisfies Race;
