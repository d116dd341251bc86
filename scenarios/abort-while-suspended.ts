import type { Scenario } from "../src/faults/index.ts";

/** A run that waits for a deferred answer is cancelled: nothing is polled, the job is given up, and what was queued is drained. */
export default {
  name: "abort-while-suspended",
  title: "a suspended run is cancelled with input queued and a write deferred; nothing is polled",
  settings: { retry: { enabled: false, maxRetries: 0, baseDelayMs: 1000 }, deferred: { window: "1h" } },
  tools: [],
  turns: [
    [
      { stopReason: "deferred", job: { id: "job-1", takesMs: 0 }, usage: { input: 40, output: 0 } },
      { text: "Too late.", stopReason: "stop", usage: { input: 0, output: 3 } },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Take your time." }],
  meanwhile: [
    { while: { suspendedAt: 0 }, call: "steer", text: "Hurry up." },
    { while: { suspendedAt: 0 }, call: "appendMessage", text: "Forget it." },
    { while: { suspendedAt: 0 }, call: "abort" },
  ],
} as const satisfies Scenario;
