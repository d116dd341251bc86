import type { Scenario } from "../src/faults/index.ts";

/**
 * The adapter counts more input than the window holds, and reports that as an error with what it cost.
 */
export default {
  name: "overflow-reported",
  title: "an adapter reports an input beyond the window, at its price; compacted, and asked again",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [
      {
        text: "By",
        stopReason: "error",
        errorMessage: "input exceeds the context window of the model",
        usage: { input: 210, output: 1 },
      },
      { text: "By Romulus.", stopReason: "stop", usage: { input: 45, output: 8 } },
    ],
  ],
  summaries: [[[{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }]]],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
  ],
} as const satisfies Scenario;
