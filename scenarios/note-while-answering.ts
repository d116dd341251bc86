import type { Scenario } from "../src/faults/index.ts";

/** A custom entry is written while an answer is made: it is placed at the end and starts nothing. */
export default {
  name: "note-while-answering",
  title: "a custom entry is written while the last answer is made; it is placed, and the run ends",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [[{ text: "Hello.", stopReason: "stop", usage: { input: 12, output: 3 } }]],
  stimuli: [{ call: "prompt", text: "Say hello." }],
  meanwhile: [{ while: { turn: 0 }, call: "appendCustom", text: "seen by the user" }],
} as const satisfies Scenario;
