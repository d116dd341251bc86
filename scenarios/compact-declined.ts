import type { Scenario } from "../src/faults/index.ts";

/**
 * A hook declines what the caller asks for: the operation ends, and the conversation goes on as if nothing had been
 * asked.
 */
export default {
  name: "compact-declined",
  title: "the caller compacts, and a hook declines; the next turn sees the whole conversation",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "His brother was Remus.", stopReason: "stop", usage: { input: 60, output: 6 } }],
  ],
  decisions: [{ kind: "decline" }],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "compact" },
    { call: "prompt", text: "Who was his brother?" },
  ],
} as const satisfies Scenario;
