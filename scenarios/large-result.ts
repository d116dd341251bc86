import type { Scenario } from "../src/faults/index.ts";

/** A result of one megabyte: its commit is far longer than what one write lays down at once, and so can be torn. */
export default {
  name: "large-result",
  title: "a tool result of 1 MB: its commit is longer than any write that is atomic under a kill",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 1, baseDelayMs: 1000 } },
  tools: [{ name: "read_log", replay: "safe", does: { kind: "answersBytes", byteCount: 1_048_576 } }],
  turns: [
    [
      {
        toolCalls: [{ id: "call-1", name: "read_log", arguments: { path: "/var/log/syslog" } }],
        stopReason: "toolUse",
        usage: { input: 40, output: 15 },
      },
    ],
    [{ text: "The log holds nothing of note.", stopReason: "stop", usage: { input: 262_200, output: 8 } }],
  ],
  stimuli: [{ call: "prompt", text: "Read the system log." }],
} as const satisfies Scenario;
