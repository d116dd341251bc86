import type { Scenario } from "../src/faults/index.ts";

/**
 * A compaction is cancelled while its second request is answered: the request is paid for, nothing is stored of what it
 * said, and the conversation goes on as it was.
 */
export default {
  name: "abort-compaction",
  title: "a compaction is cancelled while its second request is answered: paid for, and nothing else",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "His brother was Remus.", stopReason: "stop", usage: { input: 60, output: 6 } }],
  ],
  summaries: [
    [
      [{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }],
      [{ text: "Who founded it?", stopReason: "stop", usage: { input: 52, output: 4 } }],
    ],
  ],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "compact" },
    { call: "prompt", text: "Who was his brother?" },
  ],
  meanwhile: [{ while: { summary: 0, request: 1 }, call: "abort" }],
} as const satisfies Scenario;
