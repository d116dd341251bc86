import type { Scenario } from "../src/faults/index.ts";

/**
 * A hook declines the compaction without which the run cannot go on: the run fails.
 */
export default {
  name: "overflow-declined",
  title: "a hook declines the compaction that an overflow needs: the run fails",
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
    ],
  ],
  decisions: [{ kind: "decline" }],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
  ],
} as const satisfies Scenario;
