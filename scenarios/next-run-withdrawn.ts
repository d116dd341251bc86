import type { Scenario } from "../src/faults/index.ts";

/** Of what waits for the next run one item is taken back, and one is said too late to be captured. */
export default {
  name: "next-run-withdrawn",
  title: "an item of the next run is taken back, another stays queued when the last run has ended",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [[{ text: "Here.", stopReason: "stop", usage: { input: 20, output: 3 } }]],
  stimuli: [
    { call: "nextRun", text: "Forget this." },
    { call: "nextRun", text: "Keep this." },
    { call: "cancelQueued", text: "Forget this." },
    { call: "prompt", text: "Go." },
  ],
  meanwhile: [{ while: { turn: 0 }, call: "nextRun", text: "For some other time." }],
} as const satisfies Scenario;
