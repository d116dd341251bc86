import type { Scenario } from "../src/faults/index.ts";

/**
 * A navigation is cancelled while a hook decides on it: what the hook supplies is dropped, and nothing moves.
 */
export default {
  name: "abort-navigation",
  title: "a navigation is cancelled while a hook supplies its summary: nothing moves",
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
  ],
  decisions: [{ kind: "supply", summary: "From the archive.", usage: { input: 7, output: 2 } }],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "navigateTree", to: "Rome was founded in 753 BC.", summarize: true },
  ],
  meanwhile: [{ while: { decision: 0 }, call: "abort" }],
} as const satisfies Scenario;
