import type { Scenario } from "../src/faults/index.ts";

/** An application writes down something of its own while a request fails: the note is kept, and the run fails. */
export default {
  name: "note-beside-a-failure",
  title: "a custom entry is written while a request fails for good; it is placed, and the run ends as failed",
  settings: { retry: { enabled: false, maxRetries: 0, baseDelayMs: 1000 } },
  tools: [],
  turns: [[{ stopReason: "error", errorMessage: "401 invalid key", usage: { input: 9, output: 0 } }]],
  stimuli: [{ call: "prompt", text: "Say something." }],
  meanwhile: [{ while: { turn: 0 }, call: "appendCustom", text: "the key is wrong" }],
} as const satisfies Scenario;
