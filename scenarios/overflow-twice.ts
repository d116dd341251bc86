import type { Scenario } from "../src/faults/index.ts";

/**
 * Compacted once, the request does not fit again: the run fails, and is not compacted in a circle.
 */
export default {
  name: "overflow-twice",
  title: "a request that does not fit after its compaction either: the run fails",
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
      {
        stopReason: "error",
        errorMessage: "prompt is too long: 205 tokens > 200 maximum",
        usage: { input: 0, output: 0 },
      },
    ],
  ],
  summaries: [[[{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }]]],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
  ],
} as const satisfies Scenario;
