import type { Scenario } from "../src/faults/index.ts";

/**
 * The main job: an answer with two tool calls, one that must never run twice and one that may, then a final answer.
 */
export default {
  name: "two-tools",
  title: "a payment that must never be sent twice, a look-up that may be repeated, a final answer",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 } },
  tools: [
    { name: "send_payment", replay: "never", does: { kind: "answers", text: "sent {arguments}" } },
    { name: "read_balance", replay: "safe", does: { kind: "answers", text: "balance after {arguments}" } },
  ],
  turns: [
    [
      {
        text: "I pay first, then look at the balance.",
        toolCalls: [
          { id: "call-1", name: "send_payment", arguments: { to: "ACME", amount: 250 } },
          { id: "call-2", name: "read_balance", arguments: { account: "main" } },
        ],
        stopReason: "toolUse",
        usage: { input: 120, output: 40 },
      },
    ],
    [{ text: "Paid. The balance is in the report.", stopReason: "stop", usage: { input: 210, output: 12 } }],
  ],
  stimuli: [{ call: "prompt", text: "Pay ACME 250 and tell me the balance." }],
} as const satisfies Scenario;
