import type { Scenario } from "../src/faults/index.ts";

/** A hook is asked before the run ends, and wants it to go on: its message is placed with the state that goes on. */
export default {
  name: "goes-on-at-the-end",
  title: "a hook is asked before the run ends and makes it go on with one more question",
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [
    [{ text: "Booked.", stopReason: "stop", usage: { input: 30, output: 2 } }],
    [{ text: "Seat 12A.", stopReason: "stop", usage: { input: 44, output: 4 } }],
  ],
  stimuli: [{ call: "prompt", text: "Book a seat." }],
  runEnd: "Which one?",
} as const satisfies Scenario;
