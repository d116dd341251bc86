import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** Retries are switched off before a generation captures its policy, or after it: its failure is final or asked again. */
export default {
  name: "set-retry-vs-generation",
  row: {
    pair: "`setRetryPolicy` × generation start",
    first: "the new snapshot is used",
    second: "the old one is",
  },
  scenario: {
    ...oneAnswer(),
    turns: [
      [
        { stopReason: "error", errorMessage: "503 overloaded", usage: { input: 10, output: 0 } },
        { text: "Done.", stopReason: "stop", usage: { input: 10, output: 5 } },
      ],
    ],
  },
  orders: [
    {
      name: "policy-first",
      schedule: [{ at: { before: "generation_started" }, call: { call: "setRetryPolicy", maxRetries: 0 } }],
      proof: ["answer setRetryPolicy *", "commit generation.ready"],
      answers: { setRetryPolicy: "set", prompt: "failed" },
      history: ["user: Go.", "assistant, error: ", "lane main: idle, run failed"],
    },
    {
      name: "generation-first",
      schedule: [{ at: { after: "generation_started" }, call: { call: "setRetryPolicy", maxRetries: 0 } }],
      proof: ["commit generation.ready", "answer setRetryPolicy *"],
      answers: { setRetryPolicy: "set", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, error: ",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
  ],
} as const satisfies Race;
