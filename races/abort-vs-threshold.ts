import type { Race } from "../src/faults/index.ts";
import { COMPACTING, oneAnswer, SUMMARY } from "./workloads.ts";

/** A cancellation and the commit of a summary inside a run. */
export default {
  name: "abort-vs-threshold",
  row: {
    pair: "abort × structural commit: a compaction in a run",
    first: "`aborted`, no entry",
    second: "the compaction stands, and the run is cancelled",
  },
  scenario: {
    ...oneAnswer(),
    settings: { ...COMPACTING, contextWindow: 1000 },
    summaries: SUMMARY,
    turns: [
      [{ text: "Done.", stopReason: "stop", usage: { input: 950, output: 5 } }],
      [{ text: "Done again.", stopReason: "stop", usage: { input: 30, output: 5 } }],
    ],
  },
  orders: [
    {
      name: "abort-first",
      schedule: [{ at: { before: "compaction_concluded" }, call: { call: "abort" } }],
      proof: ["commit structural.request.settle", "answer abort *"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run aborted"],
    },
    {
      name: "compaction-first",
      schedule: [{ at: { after: "compaction_concluded" }, call: { call: "abort" } }],
      proof: ["commit compaction.generated", "answer abort *"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "compaction: There is no earlier conversation.",
        "lane main: idle, run aborted",
      ],
    },
  ],
  elsewhere: [
    {
      why: "nobody cancelled the run",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "compaction: There is no earlier conversation.",
        "lane main: idle, run completed",
      ],
      lacks: "abort",
    },
    {
      why: "the run was cancelled before it asked for anything",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before a request was sent, or its answer was lost",
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled while a request was answered",
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
  ],
} as const satisfies Race;
