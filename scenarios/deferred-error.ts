import type { Scenario } from "../src/faults/index.ts";

/** The job fails with an error that a request would be retried for. A poll is not: the job was the attempt. */
export default {
  name: "deferred-error",
  title: "a poll brings an error that would be retried for a request; polls never retry, so the run fails",
  settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 }, deferred: { window: "15m" } },
  tools: [],
  turns: [
    [
      { stopReason: "deferred", job: { id: "job-1", takesMs: 0 }, usage: { input: 40, output: 0 } },
      { stopReason: "error", errorMessage: "overloaded", usage: { input: 3, output: 0 } },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Take your time." }],
} as const satisfies Scenario;
