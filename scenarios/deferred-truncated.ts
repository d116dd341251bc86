import type { Scenario } from "../src/faults/index.ts";

/** The answer that a poll brings was cut at the output limit: its calls are answered and none of them is executed. */
export default {
  name: "deferred-truncated",
  title: "a poll brings a call that the output limit cut: nothing is executed, the model issues it again",
  settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 }, deferred: { window: "1h" } },
  tools: [{ name: "write_file", replay: "never", does: { kind: "answers", text: "wrote {arguments}" } }],
  turns: [
    [
      { stopReason: "deferred", job: { id: "job-1", takesMs: 0 }, usage: { input: 50, output: 0 } },
      {
        toolCalls: [{ id: "call-1", name: "write_file", arguments: { path: "a" } }],
        stopReason: "length",
        usage: { input: 0, output: 8_192 },
      },
    ],
    [
      {
        toolCalls: [{ id: "call-2", name: "write_file", arguments: { path: "a.txt" } }],
        stopReason: "toolUse",
        usage: { input: 8_300, output: 12 },
      },
    ],
    [{ text: "Written.", stopReason: "stop", usage: { input: 8_330, output: 3 } }],
  ],
  stimuli: [{ call: "prompt", text: "Write a.txt." }],
} as const satisfies Scenario;
