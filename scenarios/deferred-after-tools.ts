import type { Scenario } from "../src/faults/index.ts";

/** A job in the middle of a conversation: a retry before it, tools before it, and another prompt after it. */
export default {
  name: "deferred-after-tools",
  title: "tools, then an overloaded provider, then a job that is pending once; a second prompt follows",
  settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 }, deferred: { window: "1h" } },
  tools: [{ name: "search", replay: "safe", does: { kind: "answers", text: "found {arguments}" } }],
  turns: [
    [
      {
        toolCalls: [{ id: "call-1", name: "search", arguments: { query: "invoices" } }],
        stopReason: "toolUse",
        usage: { input: 60, output: 14 },
      },
    ],
    [
      { stopReason: "error", errorMessage: "overloaded", usage: { input: 5, output: 0 } },
      {
        stopReason: "deferred",
        job: { id: "job-1", takesMs: 0 },
        usage: { input: 100, output: 0 },
      },
      { stopReason: "deferred", job: { id: "job-1", takesMs: 0 }, usage: { input: 0, output: 0 } },
      { text: "There are two.", stopReason: "stop", usage: { input: 0, output: 7 } },
    ],
    [{ text: "You are welcome.", stopReason: "stop", usage: { input: 140, output: 5 } }],
  ],
  stimuli: [
    { call: "prompt", text: "How many invoices are there?" },
    { call: "prompt", text: "Thank you." },
  ],
} as const satisfies Scenario;
