import type { Scenario } from "../src/faults/index.ts";

/**
 * A run is cancelled while its context is compacted: it ends there, with what was said until then.
 */
export default {
  name: "abort-threshold",
  title: "a run is cancelled while its context is compacted",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    contextWindow: 1000,
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [[{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 950, output: 9 } }]],
  summaries: [[[{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }]]],
  stimuli: [{ call: "prompt", text: "When was Rome founded?" }],
  meanwhile: [{ while: { summary: 0 }, call: "abort" }],
} as const satisfies Scenario;
