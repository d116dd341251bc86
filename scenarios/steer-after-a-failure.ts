import type { Scenario } from "../src/faults/index.ts";

/** A request fails for good while the user has more to say: the run answers that instead of failing. */
export default {
  name: "steer-after-a-failure",
  title: "a correction is given while a request fails for good; the run takes it up instead of ending",
  settings: { retry: { enabled: false, maxRetries: 0, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [
      { stopReason: "error", errorMessage: "401 invalid key", usage: { input: 9, output: 0 } },
      { text: "Here.", stopReason: "stop", usage: { input: 25, output: 2 } },
    ],
  ],
  stimuli: [{ call: "prompt", text: "Say something." }],
  meanwhile: [
    { while: { turn: 0 }, call: "appendCustom", text: "the key was replaced" },
    { while: { turn: 0 }, call: "steer", text: "Try again." },
  ],
} as const satisfies Scenario;
