import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A thinking level is set before a generation captures its configuration, or after it. */
export default {
  name: "set-thinking-vs-generation",
  row: {
    pair: "`setThinkingLevel` × generation start",
    first: "the new snapshot is used",
    second: "the old one is",
  },
  scenario: oneAnswer("Thinking: {thinking}."),
  orders: [
    {
      name: "level-first",
      schedule: [{ at: { before: "generation_started" }, call: { call: "setThinkingLevel", level: "high" } }],
      proof: ["answer setThinkingLevel *", "commit generation.ready"],
      answers: { setThinkingLevel: "set", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: Thinking: high.", "lane main: idle, run completed"],
    },
    {
      name: "generation-first",
      schedule: [{ at: { after: "generation_started" }, call: { call: "setThinkingLevel", level: "high" } }],
      proof: ["commit generation.ready", "commit lane.configure"],
      answers: { setThinkingLevel: "set", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: Thinking: off.", "lane main: idle, run completed"],
    },
  ],
} as const satisfies Race;
