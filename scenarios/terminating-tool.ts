import type { Scenario } from "../src/faults/index.ts";

/** A tool that ends the run: no further request is made, and none may be made after a crash either. */
export default {
  name: "terminating-tool",
  title: "a tool hands in the final result and ends the run without another request",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 1, baseDelayMs: 1000 } },
  tools: [
    {
      name: "submit_result",
      replay: "never",
      does: { kind: "answers", text: "accepted {arguments}", terminate: true },
    },
  ],
  turns: [
    [
      {
        toolCalls: [{ id: "call-1", name: "submit_result", arguments: { total: 42 } }],
        stopReason: "toolUse",
        usage: { input: 60, output: 20 },
      },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Add 40 and 2 and submit the result." }],
} as const satisfies Scenario;
