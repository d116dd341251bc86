import type { Scenario } from "../src/faults/index.ts";

/** What an application notes beside the conversation is a commit of its own each time, and none of it may come twice. */
export default {
  name: "notes-beside",
  title:
    "after an answer: another thinking level, a name for the session, a cost that is booked by hand, a second lane",
  settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 } },
  tools: [],
  turns: [[{ text: "Noted.", stopReason: "stop", usage: { input: 40, output: 3 } }]],
  stimuli: [
    { call: "prompt", text: "Keep this." },
    { call: "setThinkingLevel", level: "high" },
    { call: "setName", name: "kept" },
    { call: "recordUsage", usage: { input: 7, output: 0 } },
    { call: "createLane", lane: "side" },
  ],
} as const satisfies Scenario;
