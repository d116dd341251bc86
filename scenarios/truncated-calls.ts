import type { Scenario } from "../src/faults/index.ts";

/** The output limit cuts an answer in its calls: they are answered and none of them is executed. */
export default {
  name: "truncated-calls",
  title: "an answer with two calls is cut at the output limit: neither is executed",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [{ name: "write_file", replay: "never", does: { kind: "answers", text: "wrote {arguments}" } }],
  turns: [
    [
      {
        toolCalls: [
          { id: "call-1", name: "write_file", arguments: { path: "a.txt" } },
          { id: "call-2", name: "write_file", arguments: { path: "b" } },
        ],
        stopReason: "length",
        usage: { input: 50, output: 8_192 },
      },
    ],
    [{ text: "I could not write them.", stopReason: "stop", usage: { input: 8_300, output: 6 } }],
    [{ text: "You are welcome.", stopReason: "stop", usage: { input: 8_330, output: 4 } }],
  ],
  stimuli: [
    { call: "prompt", text: "Write a.txt and b.txt." },
    { call: "prompt", text: "Thank you anyway." },
  ],
} as const satisfies Scenario;
