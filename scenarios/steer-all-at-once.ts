import type { Scenario } from "../src/faults/index.ts";

/** Two corrections and two follow-ups, and modes that take all there are: one request reads them together. */
export default {
  name: "steer-all-at-once",
  title: "two corrections and two follow-ups under modes that take all: each pair is read by one request",
  settings: {
    toolExecution: "sequential",
    steeringMode: "all",
    followUpMode: "all",
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
    [{ text: "Shorter, in French.", stopReason: "stop", usage: { input: 90, output: 7 } }],
    [{ text: "Two more questions answered.", stopReason: "stop", usage: { input: 130, output: 9 } }],
  ],
  stimuli: [{ call: "prompt", text: "Summarise a.md." }],
  meanwhile: [
    { while: { tool: "call-1" }, call: "steer", text: "Shorter." },
    { while: { tool: "call-1" }, call: "steer", text: "In French." },
    { while: { tool: "call-1" }, call: "followUp", text: "Who wrote it?" },
    { while: { tool: "call-1" }, call: "followUp", text: "And when?" },
  ],
} as const satisfies Scenario;
