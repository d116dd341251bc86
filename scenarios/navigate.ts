import type { Scenario } from "../src/faults/index.ts";

/**
 * The lane moves to an answer and gets a label there, to a question, and to the root; turns that are taken from there
 * grow branches of their own. What cannot be moved to is refused, with nothing written.
 */
export default {
  name: "navigate",
  title:
    "the lane moves to an answer, to a question and to the root, and goes on from each; wrong targets are refused",
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [{ text: "By Romulus, says the legend.", stopReason: "stop", usage: { input: 45, output: 8 } }],
    [{ text: "On the Palatine.", stopReason: "stop", usage: { input: 40, output: 5 } }],
    [{ text: "I said 753 BC.", stopReason: "stop", usage: { input: 25, output: 7 } }],
    [{ text: "Good morning.", stopReason: "stop", usage: { input: 10, output: 3 } }],
  ],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
    { call: "navigateTree", to: "nobody said this", refused: "UnknownTarget" },
    { call: "navigateTree", to: "Rome was founded in 753 BC.", label: "founded" },
    { call: "prompt", text: "And where?" },
    { call: "navigateTree", to: "When was Rome founded?" },
    { call: "prompt", text: "Say it again." },
    { call: "navigateTree", to: null },
    { call: "navigateTree", to: null, refused: "InvalidNavigation" },
    { call: "prompt", text: "Hello." },
  ],
} as const satisfies Scenario;
