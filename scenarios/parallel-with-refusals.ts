import type { Scenario } from "../src/faults/index.ts";

/** Calls side by side of which one cannot be executed: its refusal waits for its turn between two results. */
export default {
  name: "parallel-with-refusals",
  title: "three calls side by side; the middle one names no tool, and its refusal keeps its place",
  settings: { toolExecution: "parallel", retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 } },
  tools: [
    {
      name: "search",
      replay: "safe",
      requires: ["query"],
      does: { kind: "answers", text: "found {arguments}" },
    },
  ],
  turns: [
    [
      {
        toolCalls: [
          { id: "call-1", name: "search", arguments: { query: "invoices" } },
          { id: "call-2", name: "serach", arguments: { query: "bills" } },
          { id: "call-3", name: "search", arguments: { query: "receipts" } },
        ],
        stopReason: "toolUse",
        usage: { input: 60, output: 20 },
      },
    ],
    [{ text: "Found two of three.", stopReason: "stop", usage: { input: 120, output: 6 } }],
  ],
  stimuli: [{ call: "prompt", text: "Find invoices, bills and receipts." }],
} as const satisfies Scenario;
