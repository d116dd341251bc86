import type { Scenario } from "../src/faults/index.ts";

/** The answer that a poll brings asks for tools: the batch is planned by the settlement of the poll. */
export default {
  name: "deferred-tools",
  title: "a poll brings two tool calls, one that must never run twice; the next answer comes at once",
  settings: {
    toolExecution: "sequential",
    retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 },
    deferred: { window: "1h" },
  },
  tools: [
    { name: "read_file", replay: "safe", does: { kind: "answers", text: "read {arguments}" } },
    { name: "delete_file", replay: "never", does: { kind: "answers", text: "deleted {arguments}" } },
  ],
  turns: [
    [
      { stopReason: "deferred", job: { id: "job-1", takesMs: 0 }, usage: { input: 70, output: 0 } },
      {
        toolCalls: [
          { id: "call-1", name: "read_file", arguments: { path: "old.sql" } },
          { id: "call-2", name: "delete_file", arguments: { path: "old.sql" } },
        ],
        stopReason: "toolUse",
        usage: { input: 0, output: 33 },
      },
    ],
    [{ text: "Read and deleted.", stopReason: "stop", usage: { input: 120, output: 6 } }],
  ],
  stimuli: [{ call: "prompt", text: "Read old.sql, then delete it, whenever you can." }],
} as const satisfies Scenario;
