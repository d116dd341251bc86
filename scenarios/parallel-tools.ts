import type { Scenario } from "../src/faults/index.ts";

/** Three calls in flight at once: intents in source order, effects side by side, results committed in source order. */
export default {
  name: "parallel-tools",
  title: "three calls in flight at once, the middle one must never run twice; one reports a cost of its own",
  settings: { toolExecution: "parallel", retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 } },
  tools: [
    {
      name: "search",
      replay: "safe",
      does: { kind: "answers", text: "found {arguments}", usage: { input: 30, output: 5 } },
    },
    { name: "send_mail", replay: "never", does: { kind: "answers", text: "mailed {arguments}" } },
  ],
  turns: [
    [
      {
        toolCalls: [
          { id: "call-1", name: "search", arguments: { query: "invoices" } },
          { id: "call-2", name: "send_mail", arguments: { to: "cfo@example.org" } },
          { id: "call-3", name: "search", arguments: { query: "receipts" } },
        ],
        stopReason: "toolUse",
        usage: { input: 90, output: 60 },
      },
    ],
    [{ text: "All three are done.", stopReason: "stop", usage: { input: 260, output: 9 } }],
  ],
  stimuli: [{ call: "prompt", text: "Find the invoices and receipts, and mail the CFO." }],
} as const satisfies Scenario;
