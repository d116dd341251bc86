import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A time limit is set before a generation captures its options, or after it. */
export default {
  name: "set-stream-options-vs-generation",
  row: {
    pair: "`setStreamOptions` × generation start",
    first: "the new snapshot is used",
    second: "the old one is",
  },
  scenario: oneAnswer("Within: {timeout}."),
  orders: [
    {
      name: "options-first",
      schedule: [{ at: { before: "generation_started" }, call: { call: "setStreamOptions", timeoutMs: 7 } }],
      proof: ["answer setStreamOptions *", "commit generation.ready"],
      answers: { setStreamOptions: "set", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: Within: 7 ms.", "lane main: idle, run completed"],
    },
    {
      name: "generation-first",
      schedule: [{ at: { after: "generation_started" }, call: { call: "setStreamOptions", timeoutMs: 7 } }],
      proof: ["commit generation.ready", "answer setStreamOptions *"],
      answers: { setStreamOptions: "set", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: Within: none.", "lane main: idle, run completed"],
    },
  ],
} as const satisfies Race;
