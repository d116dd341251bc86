import type { Scenario } from "../src/faults/index.ts";

/**
 * A hook supplies the compaction after an overflow.
 */
export default {
  name: "overflow-by-hook",
  title: "a hook supplies the compaction that an overflow needs, and the turn is asked again",
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
  decisions: [{ kind: "supply", summary: "Rome, from the archive.", usage: { input: 7, output: 2 } }],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
  ],
} as const satisfies Scenario;
