import type { Scenario } from "../src/faults/index.ts";

/** The run is cancelled while a poll is under way: its answer is stored as aborted, and the provider is told to give the job up. */
export default {
  name: "abort-while-polling",
  title: "a run is cancelled while a deferred answer is polled; the job is given up",
  settings: { retry: { enabled: false, maxRetries: 0, baseDelayMs: 1000 }, deferred: { window: "1h" } },
  tools: [],
  turns: [
    [
      { stopReason: "deferred", job: { id: "job-1", takesMs: 0 }, usage: { input: 40, output: 0 } },
      { text: "Too late.", stopReason: "stop", usage: { input: 0, output: 3 } },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Take your time." }],
  meanwhile: [{ while: { turn: 0, ask: 2 }, call: "abort" }],
} as const satisfies Scenario;
