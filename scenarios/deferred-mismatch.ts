import type { Scenario } from "../src/faults/index.ts";

/** A poll is answered with the handle of another job. Following it would be following what nobody asked for, so the run fails. */
export default {
  name: "deferred-mismatch",
  title: "a poll is answered with the handle of another job: stored as an error, and the run fails",
  settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 }, deferred: { window: "15m" } },
  tools: [],
  turns: [
    [
      { stopReason: "deferred", job: { id: "job-1", takesMs: 0 }, usage: { input: 40, output: 0 } },
      { stopReason: "deferred", job: { id: "job-2", takesMs: 0 }, usage: { input: 2, output: 0 } },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Take your time." }],
} as const satisfies Scenario;
