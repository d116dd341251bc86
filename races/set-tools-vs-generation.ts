import type { Race } from "../src/faults/index.ts";
import { oneCall } from "./workloads.ts";

/** A tool is taken away before a generation captures its configuration, or after it: a call of it is refused or executed. */
export default {
  name: "set-tools-vs-generation",
  row: {
    pair: "`setActiveTools` × generation start",
    first: "the new snapshot is used",
    second: "the old one is",
  },
  scenario: oneCall(),
  orders: [
    {
      name: "tools-first",
      schedule: [{ at: { before: "generation_started" }, call: { call: "setActiveTools", names: [] } }],
      proof: ["answer setActiveTools *", "commit generation.ready"],
      absent: ["effect tool.execute"],
      answers: { setActiveTools: "set", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1, error: There is no tool named look. Available tools: none.",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
    {
      name: "generation-first",
      schedule: [{ at: { after: "generation_started" }, call: { call: "setActiveTools", names: [] } }],
      proof: ["commit generation.ready", "commit lane.configure"],
      answers: { setActiveTools: "set", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
  ],
} as const satisfies Race;
