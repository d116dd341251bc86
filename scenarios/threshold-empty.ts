import type { Scenario } from "../src/faults/index.ts";

/**
 * A single message that is larger than the window: there is nothing to summarize, so the checkpoint is marked and the
 * run goes on.
 */
export default {
  name: "threshold-empty",
  title: "a context that is too large and has nothing old in it: marked as judged, and sent as it is",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    contextWindow: 1000,
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 5000 },
  },
  tools: [],
  turns: [[{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 950, output: 9 } }]],
  stimuli: [{ call: "prompt", text: "When was Rome founded?" }],
} as const satisfies Scenario;
