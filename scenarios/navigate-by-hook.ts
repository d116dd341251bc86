import type { Scenario } from "../src/faults/index.ts";

/**
 * A hook supplies the summary of the branch that is left, at a cost of its own.
 */
export default {
  name: "navigate-by-hook",
  title: "a hook supplies the summary of the branch that is left; no model is asked",
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "On the Palatine.", stopReason: "stop", usage: { input: 60, output: 5 } }],
  ],
  decisions: [{ kind: "supply", summary: "From the archive.", usage: { input: 7, output: 2 } }],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "navigateTree", to: "Rome was founded in 753 BC.", summarize: true, label: "archived" },
    { call: "prompt", text: "And where?" },
  ],
} as const satisfies Scenario;
