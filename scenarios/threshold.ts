import type { Scenario } from "../src/faults/index.ts";

/**
 * The context outgrows its window in the middle of a run: it is compacted at the checkpoint after the tool, and the run
 * goes on with the summary, the kept call and its result.
 */
export default {
  name: "threshold",
  title: "a context that outgrows its window in the middle of a run is compacted, and the run goes on",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    contextWindow: 1000,
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [{ name: "read", replay: "safe", does: { kind: "answers", text: "chapter {arguments}" } }],
  turns: [
    [{ text: "Ask me anything.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [
      {
        toolCalls: [{ id: "call-1", name: "read", arguments: { path: "rome.txt" } }],
        stopReason: "toolUse",
        usage: { input: 950, output: 15 },
      },
    ],
    [{ text: "It was founded in 753 BC.", stopReason: "stop", usage: { input: 110, output: 12 } }],
  ],
  summaries: [
    [
      [{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }],
      [{ text: "Who founded it?", stopReason: "stop", usage: { input: 52, output: 4 } }],
    ],
  ],
  stimuli: [
    { call: "prompt", text: "Are you there?" },
    { call: "prompt", text: "What does the book say of Rome?" },
  ],
} as const satisfies Scenario;
