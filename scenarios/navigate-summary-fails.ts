import type { Scenario } from "../src/faults/index.ts";

/**
 * The summary of the branch cannot be made: nothing moves, and the operation has failed.
 */
export default {
  name: "navigate-summary-fails",
  title: "the summary of a branch fails in every attempt: the lane stays where it is",
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "On the Palatine.", stopReason: "stop", usage: { input: 60, output: 5 } }],
  ],
  summaries: [[[{ stopReason: "error", errorMessage: "overloaded", usage: { input: 41, output: 0 } }]]],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "navigateTree", to: "Rome was founded in 753 BC.", summarize: true },
    { call: "prompt", text: "And where?" },
  ],
} as const satisfies Scenario;
