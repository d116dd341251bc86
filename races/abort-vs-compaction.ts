import type { Race } from "../src/faults/index.ts";
import { COMPACTING, oneAnswer, SUMMARY } from "./workloads.ts";

/** A cancellation and the commit of a summary: nothing is stored, or the compaction is there. */
export default {
  name: "abort-vs-compaction",
  row: {
    pair: "abort × structural commit: a compaction of the caller",
    first: "`aborted`, no entry",
    second: "`completed`",
  },
  scenario: {
    ...oneAnswer(),
    settings: COMPACTING,
    summaries: SUMMARY,
    stimuli: [{ call: "prompt", text: "Go." }, { call: "prompt", text: "On." }, { call: "compact" }],
  },
  orders: [
    {
      name: "abort-first",
      schedule: [{ at: { before: "end compaction published" }, call: { call: "abort" } }],
      proof: ["commit structural.request.settle", "answer abort *"],
      answers: { abort: "cancelled", compact: "aborted" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, stop: Done again.",
        "lane main: idle, compaction aborted",
      ],
    },
    {
      name: "compaction-first",
      schedule: [{ at: { after: "end compaction published" }, call: { call: "abort" } }],
      proof: ["commit manual.generated", "answer abort *"],
      answers: { abort: "NoActiveOperation", compact: "completed" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, stop: Done again.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
  ],
  elsewhere: [
    {
      why: "a run before it was cancelled: before it asked for anything",
      history: [
        "user: Go.",
        "user: On.",
        "assistant, stop: Done.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
    {
      why: "before its request was sent",
      history: [
        "user: Go.",
        "assistant, aborted: ",
        "user: On.",
        "assistant, stop: Done.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
    {
      why: "while it was answered",
      history: [
        "user: Go.",
        "assistant, aborted: Done.",
        "user: On.",
        "assistant, stop: Done.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
    {
      why: "the run right before it was cancelled: before it asked for anything",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
    {
      why: "before its request was sent",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, aborted: ",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
    {
      why: "while it was answered",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, aborted: Done again.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
  ],
} as const satisfies Race;
