import type { Scenario } from "../src/faults/index.ts";

/** The user changes their mind while a tool runs: the correction is queued, and the model reads it with the result. */
export default {
  name: "steer-while-tool-runs",
  title: "a correction is given while a tool runs, and is read by the next request",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [{ name: "write_file", replay: "never", does: { kind: "answers", text: "wrote {arguments}" } }],
  turns: [
    [
      {
        toolCalls: [{ id: "call-1", name: "write_file", arguments: { path: "report.md" } }],
        stopReason: "toolUse",
        usage: { input: 70, output: 25 },
      },
    ],
    [{ text: "Written, in French from now on.", stopReason: "stop", usage: { input: 130, output: 11 } }],
  ],
  stimuli: [{ call: "prompt", text: "Write the report." }],
  meanwhile: [{ while: { tool: "call-1" }, call: "steer", text: "In French, please." }],
} as const satisfies Scenario;
