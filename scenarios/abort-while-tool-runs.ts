import type { Scenario } from "../src/faults/index.ts";

/** A run is cancelled in the middle of a batch: the running call keeps its result, the next one is not executed. */
export default {
  name: "abort-while-tool-runs",
  title: "a run is cancelled while the first of two calls runs; the second is never executed",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [
    { name: "send_payment", replay: "never", does: { kind: "answers", text: "sent {arguments}" } },
    { name: "read_balance", replay: "safe", does: { kind: "answers", text: "balance after {arguments}" } },
  ],
  turns: [
    [
      {
        toolCalls: [
          { id: "call-1", name: "send_payment", arguments: { to: "ACME" } },
          { id: "call-2", name: "read_balance", arguments: { account: "main" } },
        ],
        stopReason: "toolUse",
        usage: { input: 60, output: 20 },
      },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Pay ACME and tell me the balance." }],
  meanwhile: [{ while: { tool: "call-1" }, call: "abort" }],
} as const satisfies Scenario;
