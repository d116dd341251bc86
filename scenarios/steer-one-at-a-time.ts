import type { Scenario } from "../src/faults/index.ts";

/** Two corrections in a row, and a mode that takes one at a time: each gets an answer of its own. */
export default {
  name: "steer-one-at-a-time",
  title: "two corrections while a tool runs; each is read by a request of its own",
  settings: {
    toolExecution: "sequential",
    steeringMode: "one-at-a-time",
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
  },
  tools: [{ name: "read_file", replay: "safe", does: { kind: "answers", text: "contents of {arguments}" } }],
  turns: [
    [
      {
        toolCalls: [{ id: "call-1", name: "read_file", arguments: { path: "a.md" } }],
        stopReason: "toolUse",
        usage: { input: 60, output: 20 },
      },
    ],
    [{ text: "Shorter now.", stopReason: "stop", usage: { input: 90, output: 5 } }],
    [{ text: "And in French.", stopReason: "stop", usage: { input: 110, output: 6 } }],
  ],
  stimuli: [{ call: "prompt", text: "Summarise a.md." }],
  meanwhile: [
    { while: { tool: "call-1" }, call: "steer", text: "Shorter." },
    { while: { tool: "call-1" }, call: "steer", text: "In French." },
  ],
} as const satisfies Scenario;
