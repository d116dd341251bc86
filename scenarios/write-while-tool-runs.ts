import type { Scenario } from "../src/faults/index.ts";

/** A message is written into the conversation while a tool runs: it waits for the checkpoint, and is read. */
export default {
  name: "write-while-tool-runs",
  title: "a message and a custom entry are written while a tool runs; both wait for the checkpoint",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [{ name: "write_file", replay: "never", does: { kind: "answers", text: "wrote {arguments}" } }],
  turns: [
    [
      {
        toolCalls: [{ id: "call-1", name: "write_file", arguments: { path: "report.md" } }],
        stopReason: "toolUse",
        usage: { input: 60, output: 20 },
      },
    ],
    [{ text: "Written.", stopReason: "stop", usage: { input: 90, output: 3 } }],
  ],
  stimuli: [{ call: "prompt", text: "Write the report." }],
  meanwhile: [
    { while: { tool: "call-1" }, call: "appendMessage", text: "By the way, it is urgent." },
    { while: { tool: "call-1" }, call: "appendCustom", text: "written by a hook" },
  ],
} as const satisfies Scenario;
