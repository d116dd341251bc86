import type { Scenario } from "../src/faults/index.ts";

/** An idle lane takes writes at once: the next run reads them, and starts below them. */
export default {
  name: "writes-between-runs",
  title: "a message and a custom entry are appended to an idle lane, before a run and after it",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [[{ text: "Read.", stopReason: "stop", usage: { input: 30, output: 2 } }]],
  stimuli: [
    { call: "appendMessage", text: "An old note." },
    { call: "prompt", text: "Read my note." },
    { call: "appendCustom", text: "read by the user" },
  ],
} as const satisfies Scenario;
