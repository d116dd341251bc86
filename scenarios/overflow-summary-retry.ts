import type { Scenario } from "../src/faults/index.ts";

/**
 * The summary after an overflow fails once and is tried again.
 */
export default {
  name: "overflow-summary-retry",
  title: "the summary after an overflow fails once, is tried again after a wait, and the turn is asked again",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
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
      { text: "By Romulus.", stopReason: "stop", usage: { input: 45, output: 8 } },
    ],
  ],
  summaries: [
    [
      [
        { stopReason: "error", errorMessage: "overloaded", usage: { input: 41, output: 0 } },
        { text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } },
      ],
    ],
  ],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
  ],
} as const satisfies Scenario;
