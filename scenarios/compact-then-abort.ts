import type { Scenario } from "../src/faults/index.ts";

/**
 * The caller compacts twice, and cancels the second work while its summary is answered. The cut of each falls between
 * turns, so one request makes a summary.
 */
export default {
  name: "compact-then-abort",
  title:
    "the caller compacts, says something more, and cancels the next compaction; the conversation goes on",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 8 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "His brother was Remus.", stopReason: "stop", usage: { input: 60, output: 6 } }],
    [{ text: "Their mother was Rhea Silvia.", stopReason: "stop", usage: { input: 75, output: 8 } }],
  ],
  summaries: [
    [[{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }]],
    [[{ text: "Rome and its founder.", stopReason: "stop", usage: { input: 63, output: 7 } }]],
  ],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "compact" },
    { call: "prompt", text: "Who was his brother?" },
    { call: "compact" },
    { call: "prompt", text: "And their mother?" },
  ],
  meanwhile: [{ while: { summary: 1 }, call: "abort" }],
} as const satisfies Scenario;
