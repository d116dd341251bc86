import type { Scenario } from "../src/faults/index.ts";

/**
 * A hook supplies the compaction and reports what it cost: one row of the ledger, with the entry. No model is asked.
 */
export default {
  name: "compact-by-hook",
  title: "the caller compacts, and a hook supplies the summary at a cost of its own; no model is asked",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "His brother was Remus.", stopReason: "stop", usage: { input: 30, output: 6 } }],
  ],
  decisions: [{ kind: "supply", summary: "Rome, from the archive.", usage: { input: 7, output: 2 } }],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "compact" },
    { call: "prompt", text: "Who was his brother?" },
  ],
} as const satisfies Scenario;
