import type { Scenario } from "../src/faults/index.ts";

/** What is said for the next run waits for it: said while one runs and while none does, captured in that order. */
export default {
  name: "next-run",
  title: "input for the next run, said during a run and between two, is captured by the next prompt",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "First.", stopReason: "stop", usage: { input: 12, output: 3 } }],
    [{ text: "All three.", stopReason: "stop", usage: { input: 40, output: 4 } }],
  ],
  stimuli: [
    { call: "prompt", text: "One." },
    { call: "nextRun", text: "Said between the runs." },
    { call: "prompt", text: "Two." },
  ],
  meanwhile: [{ while: { turn: 0 }, call: "nextRun", text: "Said during the run." }],
} as const satisfies Scenario;
