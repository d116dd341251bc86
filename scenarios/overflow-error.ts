import type { Scenario } from "../src/faults/index.ts";

/**
 * The provider refuses a request that does not fit. The refusal stands in the tree for ever and in no context; the
 * context is compacted, and the same turn is asked again.
 */
export default {
  name: "overflow-error",
  title: "a provider refuses a request that does not fit: the context is compacted and the turn asked again",
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
  summaries: [[[{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }]]],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
  ],
} as const satisfies Scenario;
