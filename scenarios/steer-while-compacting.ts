import type { Scenario } from "../src/faults/index.ts";

/**
 * The application steers while a summary is made inside a run, and again says something that may wait. The compaction
 * goes on with what it knows; what was said is placed at the checkpoint to which it goes back.
 */
export default {
  name: "steer-while-compacting",
  title: "the application steers while the context of a run is compacted: it is placed where the run goes on",
  settings: {
    retry: { enabled: true, maxRetries: 2, baseDelayMs: 1000 },
    compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 1 },
  },
  tools: [],
  turns: [
    [{ text: "Rome was founded in 753 BC.", stopReason: "stop", usage: { input: 20, output: 9 } }],
    [
      {
        stopReason: "error",
        errorMessage: "prompt is too long: 212 tokens > 200 maximum",
        usage: { input: 0, output: 0 },
      },
      { text: "By Romulus, in short.", stopReason: "stop", usage: { input: 45, output: 8 } },
    ],
    [{ text: "And by Remus.", stopReason: "stop", usage: { input: 60, output: 5 } }],
  ],
  summaries: [[[{ text: "The founding of Rome.", stopReason: "stop", usage: { input: 61, output: 5 } }]]],
  stimuli: [
    { call: "prompt", text: "When was Rome founded?" },
    { call: "prompt", text: "By whom?" },
  ],
  meanwhile: [
    { while: { summary: 0 }, call: "steer", text: "Be short." },
    { while: { summary: 0 }, call: "followUp", text: "By him alone?" },
  ],
} as const satisfies Scenario;
