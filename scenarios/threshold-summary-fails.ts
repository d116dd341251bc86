import type { Scenario } from "../src/faults/index.ts";

/**
 * The summary of a compaction inside a run fails for good: the run fails with it, and says so.
 */
export default {
  name: "threshold-summary-fails",
  title: "a compaction at a threshold whose summary fails for good: the run fails with it",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    contextWindow: 1000,
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [{ name: "read", replay: "safe", does: { kind: "answers", text: "chapter {arguments}" } }],
  turns: [
    [
      {
        toolCalls: [{ id: "call-1", name: "read", arguments: { path: "rome.txt" } }],
        stopReason: "toolUse",
        usage: { input: 950, output: 15 },
      },
    ],
    [{ text: "It was founded in 753 BC.", stopReason: "stop", usage: { input: 110, output: 12 } }],
  ],
  summaries: [[[{ stopReason: "error", errorMessage: "invalid api key", usage: { input: 0, output: 0 } }]]],
  stimuli: [{ call: "prompt", text: "What does the book say of Rome?" }],
} as const satisfies Scenario;
