import type { Scenario } from "../src/faults/index.ts";

/**
 * A hook supplies the compaction at the last checkpoint of a run: what follows it is the end.
 */
export default {
  name: "threshold-by-hook",
  title: "a hook supplies the compaction at the end of a run that has outgrown its window",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    contextWindow: 1000,
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [[{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 950, output: 9 } }]],
  decisions: [{ kind: "supply", summary: "Rome, from the archive." }],
  stimuli: [{ call: "prompt", text: "When was Rome founded?" }],
} as const satisfies Scenario;
