import type { Scenario } from "../src/faults/index.ts";

/** A run is cancelled while it waits to try again: no other attempt is made. */
export default {
  name: "abort-while-waiting",
  title: "a run is cancelled during the back-off after a failed request",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [
      { stopReason: "error", errorMessage: "503 service unavailable", usage: { input: 5, output: 0 } },
      { text: "Now it works.", stopReason: "stop", usage: { input: 20, output: 4 } },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Say something." }],
  meanwhile: [{ while: { retryOf: 0 }, call: "abort" }],
} as const satisfies Scenario;
