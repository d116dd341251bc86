import type { Scenario } from "../src/faults/index.ts";

/**
 * A day in virtual time. Two polls find the job pending, because it is late; each of their answers is durable and the next
 * source. The only scenario in which a job takes time, so that elsewhere a restart does not move the polls.
 */
export default {
  name: "deferred-pending-twice",
  title: "a job of 24 h is still pending at two polls, and ready at the third",
  settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 }, deferred: { window: "24h" } },
  tools: [],
  turns: [
    [
      {
        stopReason: "deferred",
        job: { id: "batch", takesMs: 86_400_000 },
        usage: { input: 90, output: 0 },
      },
      {
        stopReason: "deferred",
        job: { id: "batch", takesMs: 86_400_000 },
        usage: { input: 0, output: 0 },
      },
      {
        stopReason: "deferred",
        job: { id: "batch", takesMs: 86_400_000 },
        usage: { input: 1, output: 0 },
      },
      { text: "All of it is summarized.", stopReason: "stop", usage: { input: 0, output: 31 } },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Summarize everything by tomorrow." }],
} as const satisfies Scenario;
