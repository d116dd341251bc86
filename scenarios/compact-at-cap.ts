import type { Scenario } from "../src/faults/index.ts";

/**
 * Every attempt fails. A process that dies in one of them has spent it, so the operation fails after as many attempts
 * in every history.
 */
export default {
  name: "compact-at-cap",
  title: "a summary that fails in every attempt that the policy allows: the operation ends as failed",
  settings: {
    retry: { enabled: true, maxRetries: 1, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "His brother was Remus.", stopReason: "stop", usage: { input: 60, output: 6 } }],
  ],
  summaries: [[[{ stopReason: "error", errorMessage: "overloaded", usage: { input: 41, output: 0 } }]]],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "compact" },
    { call: "prompt", text: "Who was his brother?" },
  ],
} as const satisfies Scenario;
