import type { Scenario } from "../src/faults/index.ts";

/**
 * The request does not fit, and there is nothing old to summarize: the run fails at once.
 */
export default {
  name: "overflow-empty",
  title: "a request that does not fit and has nothing old in it: the run fails at once",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 5000 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [
      {
        stopReason: "error",
        errorMessage: "prompt is too long: 212 tokens > 200 maximum",
        usage: { input: 0, output: 0 },
      },
    ],
  ],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
  ],
} as const satisfies Scenario;
