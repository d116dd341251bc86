import type { Scenario } from "../src/faults/index.ts";

/**
 * Characters of two, three and four bytes, line and paragraph separators, and controls that JSON escapes, everywhere
 * where text can stand: a line may be torn in the middle of any of them.
 */
export default {
  name: "every-character",
  title: "text of all lengths in UTF-8, with the separators that are none, in every place of a message",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 1, baseDelayMs: 1000 } },
  tools: [
    {
      name: "translate",
      replay: "safe",
      does: { kind: "answers", text: "übersetzt \u2028{arguments}\u2029 \u{1d11e}\u0000\t" },
    },
  ],
  turns: [
    [
      {
        text: "Ich übersetze: 日本語\u2028\u{1f600}",
        toolCalls: [
          { id: "call-1", name: "translate", arguments: { text: "é\u0085\u2029\u{1f468}\u200d\u{1f469}" } },
        ],
        stopReason: "toolUse",
        usage: { input: 40, output: 20 },
      },
    ],
    [{ text: "Готово.\r\n\u{10ffff}", stopReason: "stop", usage: { input: 80, output: 5 } }],
  ],
  stimuli: [{ call: "prompt", text: "Übersetze «日本»\u2028 und \u{1f600}, bitte." }],
} as const satisfies Scenario;
