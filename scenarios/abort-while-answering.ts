import type { Scenario } from "../src/faults/index.ts";

/** The user stops an answer: what came of it is kept as aborted, what was queued is drained, a deferred write stays. */
export default {
  name: "abort-while-answering",
  title: "a run is cancelled while the model answers, with everything queued; the next prompt runs as ever",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [
      { text: "Once upon a", stopReason: "stop", usage: { input: 15, output: 4 } },
      { text: "Short, then.", stopReason: "stop", usage: { input: 30, output: 4 } },
    ],
  ],
  stimuli: [
    { call: "prompt", text: "Tell me a story." },
    { call: "prompt", text: "A short one." },
  ],
  meanwhile: [
    { while: { turn: 0 }, call: "steer", text: "With a dog." },
    { while: { turn: 0 }, call: "followUp", text: "And a moral." },
    { while: { turn: 0 }, call: "appendMessage", text: "I am in a hurry." },
    { while: { turn: 0 }, call: "abort" },
    { while: { turn: 0 }, call: "steer", text: "Never mind the dog." },
    { while: { turn: 0 }, call: "abort" },
    { while: { turn: 0 }, call: "appendCustom", text: "stopped by the user" },
  ],
} as const satisfies Scenario;
