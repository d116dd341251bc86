import type { Scenario } from "../src/faults/index.ts";

/**
 * One attempt is all that the policy allows, and it succeeds. A process that dies in it has lost the summary, nobody
 * asks for it again, and the run fails.
 */
export default {
  name: "threshold-once",
  title: "a compaction inside a run, under a policy that allows one attempt: a lost summary fails the run",
  settings: {
    retry: { enabled: false, maxRetries: 0, baseDelayMs: 1000 },
    contextWindow: 1000,
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [[{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 950, output: 9 } }]],
  summaries: [[[{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }]]],
  stimuli: [{ call: "prompt", text: "When was Rome founded?" }],
} as const satisfies Scenario;
