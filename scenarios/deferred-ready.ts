import type { Scenario } from "../src/faults/index.ts";

/** The provider takes the job and answers at the first poll. A poll has no cap: the one that a crash made unknown is sent again. */
export default {
  name: "deferred-ready",
  title:
    "the answer is put off and ready at the first poll; no retry is allowed, and a lost poll is polled again",
  settings: { retry: { enabled: false, maxRetries: 0, baseDelayMs: 1000 }, deferred: { window: "15m" } },
  tools: [],
  turns: [
    [
      { stopReason: "deferred", job: { id: "job-1", takesMs: 0 }, usage: { input: 40, output: 0 } },
      { text: "It took a while: yes.", stopReason: "stop", usage: { input: 0, output: 8 } },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Is it so? There is no hurry." }],
} as const satisfies Scenario;
