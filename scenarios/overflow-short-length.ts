import type { Scenario } from "../src/faults/index.ts";

/**
 * The provider stops for length, short of the output that was intended: the request did not fit, and is stored as an
 * error, because what it said is no answer.
 */
export default {
  name: "overflow-short-length",
  title: "an answer that stops for length, short of its limit, is an overflow and no answer",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [
      { text: "By Rom", stopReason: "length", usage: { input: 195, output: 3 } },
      { text: "By Romulus.", stopReason: "stop", usage: { input: 45, output: 8 } },
    ],
  ],
  summaries: [[[{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }]]],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
  ],
} as const satisfies Scenario;
