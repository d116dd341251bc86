import type { Scenario } from "../src/faults/index.ts";

/** What was started beside a cancelled call keeps its result; what was not is never executed, and nothing runs again. */
export default {
  name: "abort-beside-other-calls",
  title: "a run is cancelled while the second of four calls runs that are started side by side",
  settings: { toolExecution: "parallel", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [
    { name: "send_payment", replay: "never", does: { kind: "answers", text: "sent {arguments}" } },
    { name: "read_balance", replay: "safe", does: { kind: "answers", text: "balance of {arguments}" } },
  ],
  turns: [
    [
      {
        toolCalls: [
          { id: "call-1", name: "read_balance", arguments: { account: "main" } },
          { id: "call-2", name: "read_balance", arguments: { account: "savings" } },
          { id: "call-3", name: "read_balance", arguments: { account: "tax" } },
          { id: "call-4", name: "send_payment", arguments: { to: "ACME" } },
        ],
        stopReason: "toolUse",
        usage: { input: 60, output: 20 },
      },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Look at all my accounts and pay ACME." }],
  meanwhile: [{ while: { tool: "call-2" }, call: "abort" }],
} as const satisfies Scenario;
