import type { Scenario } from "../src/faults/index.ts";

/**
 * The smallest run: one prompt, one answer. No retry is allowed, so a request whose outcome is unknown at the crash
 * must be settled synthetically, and the run must end as failed, never silently again.
 */
export default {
  name: "one-turn",
  title: "one prompt, one answer; no retry, so an unknown request ends the run as failed",
  settings: { retry: { enabled: false, maxRetries: 0, baseDelayMs: 1000 } },
  tools: [],
  turns: [[{ text: "Hello.", stopReason: "stop", usage: { input: 12, output: 3 } }]],
  stimuli: [{ call: "prompt", text: "Say hello." }],
} as const satisfies Scenario;
