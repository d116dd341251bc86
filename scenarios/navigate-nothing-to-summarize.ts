import type { Scenario } from "../src/faults/index.ts";

/**
 * From an ancestor forward to what hangs below it nothing is left behind: the summary says so, and no model is asked.
 */
export default {
  name: "navigate-nothing-to-summarize",
  title: "the lane moves forward with a summary of nothing: its words are fixed, and no model is asked",
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
  ],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "navigateTree", to: "Rome was founded in 753 BC." },
    { call: "navigateTree", to: "By Romulus, says the legend.", summarize: true },
  ],
} as const satisfies Scenario;
