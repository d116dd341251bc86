import type { Scenario } from "../src/faults/index.ts";

/**
 * A hook declines a navigation with a summary: nothing moves.
 */
export default {
  name: "navigate-declined",
  title: "a hook declines a navigation with a summary: the lane stays where it is",
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "On the Palatine.", stopReason: "stop", usage: { input: 60, output: 5 } }],
  ],
  decisions: [{ kind: "decline" }],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "navigateTree", to: "Rome was founded in 753 BC.", summarize: true },
    { call: "prompt", text: "And where?" },
  ],
} as const satisfies Scenario;
