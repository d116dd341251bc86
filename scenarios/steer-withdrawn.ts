import type { Scenario } from "../src/faults/index.ts";

/** Said and taken back before it was read: it leaves no trace, and what was said beside it stays. */
export default {
  name: "steer-withdrawn",
  title: "a correction is taken back before it is read; a follow-up and a deferred write are taken back too",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [{ name: "read_file", replay: "safe", does: { kind: "answers", text: "contents of {arguments}" } }],
  turns: [
    [
      {
        toolCalls: [{ id: "call-1", name: "read_file", arguments: { path: "a.md" } }],
        stopReason: "toolUse",
        usage: { input: 60, output: 20 },
      },
    ],
    [{ text: "A summary.", stopReason: "stop", usage: { input: 90, output: 4 } }],
  ],
  stimuli: [{ call: "prompt", text: "Summarise a.md." }],
  meanwhile: [
    { while: { tool: "call-1" }, call: "steer", text: "Shorter." },
    { while: { tool: "call-1" }, call: "cancelQueued", text: "Shorter." },
    { while: { tool: "call-1" }, call: "followUp", text: "Thanks." },
    { while: { tool: "call-1" }, call: "appendMessage", text: "A remark." },
    { while: { tool: "call-1" }, call: "cancelQueued", text: "A remark." },
    { while: { tool: "call-1" }, call: "cancelQueued", text: "Thanks." },
  ],
} as const satisfies Scenario;
