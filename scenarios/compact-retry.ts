import type { Scenario } from "../src/faults/index.ts";

/**
 * The second request of the first attempt fails and may be tried again: the next attempt makes both requests anew, and
 * only its costs stand on the entry. All of them stand in the ledger.
 */
export default {
  name: "compact-retry",
  title: "a summary whose second request fails: the next attempt, after a wait, makes both requests again",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
  ],
  summaries: [
    [
      [
        { text: "A first try.", stopReason: "stop", usage: { input: 61, output: 5 } },
        { text: "The founding of Rome.", stopReason: "stop", usage: { input: 62, output: 6 } },
      ],
      [
        { stopReason: "error", errorMessage: "503 service unavailable", usage: { input: 50, output: 0 } },
        { text: "Who founded it?", stopReason: "stop", usage: { input: 52, output: 4 } },
      ],
    ],
  ],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "compact" },
  ],
} as const satisfies Scenario;
