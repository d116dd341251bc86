import type { Scenario } from "../src/faults/index.ts";

/** A call that may be repeated is not, once the run is cancelled; one that would end the run does not end it as completed. */
export default {
  name: "abort-beside-safe-tool",
  title: "a run is cancelled while a call runs that is safe to repeat and asks for the end of the run",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [
    {
      name: "submit_result",
      replay: "safe",
      does: { kind: "answers", text: "accepted {arguments}", terminate: true },
    },
  ],
  turns: [
    [
      {
        toolCalls: [{ id: "call-1", name: "submit_result", arguments: { total: 42 } }],
        stopReason: "toolUse",
        usage: { input: 60, output: 20 },
      },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Add 40 and 2 and submit the result." }],
  meanwhile: [
    { while: { tool: "call-1" }, call: "appendMessage", text: "Stop it." },
    { while: { tool: "call-1" }, call: "abort" },
  ],
} as const satisfies Scenario;
