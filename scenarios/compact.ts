import type { Scenario } from "../src/faults/index.ts";

/**
 * The caller compacts, says something more, and compacts again. The cut of each falls within a turn, so an attempt makes
 * two requests; the second work hands on the summary of the first.
 */
export default {
  name: "compact",
  title:
    "the caller compacts twice, with a turn between: two requests each, the second one goes on from the first",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "His brother was Remus.", stopReason: "stop", usage: { input: 30, output: 6 } }],
  ],
  summaries: [
    [
      [{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }],
      [{ text: "Who founded it?", stopReason: "stop", usage: { input: 52, output: 4 } }],
    ],
    [
      [{ text: "Rome, founded by Romulus.", stopReason: "stop", usage: { input: 63, output: 7 } }],
      [{ text: "Who was the brother?", stopReason: "stop", usage: { input: 54, output: 3 } }],
    ],
  ],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "compact", customInstructions: "Keep all names." },
    { call: "prompt", text: "Who was his brother?" },
    { call: "compact" },
    { call: "compact", refused: "NothingToCompact" },
  ],
} as const satisfies Scenario;
