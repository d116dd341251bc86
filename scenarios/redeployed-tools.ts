import type { Scenario } from "../src/faults/index.ts";

/**
 * A restart brings another version of the tools: what was safe to repeat is not any more, and the other way round, and
 * arguments are prepared in another way. Only what is stored and what is declared now, together, may decide.
 */
export default {
  name: "redeployed-tools",
  title: "three calls whose tools are declared, or prepare their arguments, in another way after a restart",
  settings: { toolExecution: "sequential", retry: { enabled: true, maxRetries: 3, baseDelayMs: 1000 } },
  tools: [
    {
      name: "read_rate",
      replay: "safe",
      replayAfterRestart: "never",
      does: { kind: "answers", text: "rate for {arguments}" },
    },
    {
      name: "book_seat",
      replay: "never",
      replayAfterRestart: "safe",
      does: { kind: "answers", text: "booked {arguments}" },
    },
    {
      name: "read_seat",
      replay: "safe",
      preparesByLife: true,
      does: { kind: "answers", text: "the seat is free" },
    },
  ],
  turns: [
    [
      {
        toolCalls: [
          { id: "call-1", name: "read_rate", arguments: { currency: "EUR" } },
          { id: "call-2", name: "book_seat", arguments: { seat: "12A" } },
          { id: "call-3", name: "read_seat", arguments: { seat: "12B" } },
        ],
        stopReason: "toolUse",
        usage: { input: 80, output: 30 },
      },
    ],
    [{ text: "Booked.", stopReason: "stop", usage: { input: 130, output: 4 } }],
  ],
  stimuli: [{ call: "prompt", text: "Book 12A if the rate is right, and look at 12B." }],
} as const satisfies Scenario;
