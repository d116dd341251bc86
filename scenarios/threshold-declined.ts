import type { Scenario } from "../src/faults/index.ts";

/**
 * A hook declines a compaction at a threshold: the run goes on with the whole context, and the same boundary is not
 * judged again.
 */
export default {
  name: "threshold-declined",
  title: "a hook declines a compaction at a threshold: the run goes on with the whole context",
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
  decisions: [{ kind: "decline" }],
  stimuli: [{ call: "prompt", text: "What does the book say of Rome?" }],
} as const satisfies Scenario;
