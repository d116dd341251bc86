import type { Scenario } from "../src/faults/index.ts";

/**
 * The branch that is left is summarized below the target, which is where the lane goes on. The label is the summary's.
 */
export default {
  name: "navigate-summary",
  title: "the lane moves back with a summary of the branch that it leaves, and goes on below it",
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "On the Palatine.", stopReason: "stop", usage: { input: 60, output: 5 } }],
  ],
  summaries: [[[{ text: "Talk of the founder.", stopReason: "stop", usage: { input: 55, output: 6 } }]]],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    {
      call: "navigateTree",
      to: "Rome was founded in 753 BC.",
      summarize: true,
      label: "other branch",
      customInstructions: "Keep all names.",
    },
    { call: "prompt", text: "And where?" },
  ],
} as const satisfies Scenario;
