import type { Race } from "../src/faults/index.ts";
import { COMPACTING, oneAnswer, SUMMARY } from "./workloads.ts";

/** A compaction that is being prepared has the lane to itself: what is appended then waits for its end. */
export default {
  name: "compaction-vs-append",
  row: {
    pair: "manual-compaction reservation × idle tree write",
    first: "the write waits",
    second: "the preparation sees the new leaf",
  },
  scenario: {
    ...oneAnswer(),
    settings: COMPACTING,
    summaries: SUMMARY,
    stimuli: [{ call: "prompt", text: "Go." }, { call: "prompt", text: "On." }, { call: "compact" }],
  },
  orders: [
    {
      name: "compaction-first",
      schedule: [{ at: { besideCall: "compact" }, call: { call: "appendMessage", text: "Note." } }],
      proof: [
        "call compact",
        "call appendMessage",
        "commit acceptance.compact",
        "commit manual.generated",
        "commit tree.append",
      ],
      answers: { appendMessage: "appended", compact: "completed" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, stop: Done again.",
        "compaction: What was done.",
        "user: Note.",
        "lane main: idle, compaction completed",
      ],
    },
    {
      name: "append-first",
      schedule: [{ at: { beforeCall: "compact" }, call: { call: "appendMessage", text: "Note." } }],
      proof: ["commit tree.append", "commit acceptance.compact"],
      answers: { appendMessage: "appended", compact: "completed" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, stop: Done again.",
        "user: Note.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
  ],
  elsewhere: [
    {
      why: "nobody appended anything",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, stop: Done again.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
      lacks: "appendMessage",
    },
    {
      why: "it was appended in the first run, which answers it",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Note.",
        "assistant, stop: Done again.",
        "user: On.",
        "assistant, stop: Done once more.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
    {
      why: "before the first run",
      history: [
        "user: Note.",
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, stop: Done again.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
    {
      why: "between the runs",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Note.",
        "user: On.",
        "assistant, stop: Done again.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
    {
      why: "in the second run, which answers it",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: On.",
        "assistant, stop: Done again.",
        "user: Note.",
        "assistant, stop: Done once more.",
        "compaction: What was done.",
        "lane main: idle, compaction completed",
      ],
    },
  ],
} as const satisfies Race;
