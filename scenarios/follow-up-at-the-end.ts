import type { Scenario } from "../src/faults/index.ts";

/** Something more occurs to the user while the last answer is written: the run goes on instead of ending. */
export default {
  name: "follow-up-at-the-end",
  title: "a follow-up is given while the last answer is written, and the run goes on with it",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "The capital is Paris.", stopReason: "stop", usage: { input: 20, output: 6 } }],
    [{ text: "It has two million inhabitants.", stopReason: "stop", usage: { input: 40, output: 8 } }],
  ],
  stimuli: [{ call: "prompt", text: "What is the capital of France?" }],
  meanwhile: [{ while: { turn: 0 }, call: "followUp", text: "How many people live there?" }],
} as const satisfies Scenario;
