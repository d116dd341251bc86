import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A model is chosen before a generation captures its configuration, or after it. */
export default {
  name: "set-model-vs-generation",
  row: { pair: "`setModel` × generation start", first: "the new snapshot is used", second: "the old one is" },
  scenario: oneAnswer("I am {model}."),
  orders: [
    {
      name: "model-first",
      schedule: [{ at: { before: "generation_started" }, call: { call: "setModel", model: "scripted-2" } }],
      proof: ["answer setModel *", "commit generation.ready"],
      answers: { setModel: "set", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: I am scripted-2.", "lane main: idle, run completed"],
    },
    {
      name: "generation-first",
      schedule: [{ at: { after: "generation_started" }, call: { call: "setModel", model: "scripted-2" } }],
      proof: ["commit generation.ready", "commit lane.configure"],
      answers: { setModel: "set", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: I am scripted-1.", "lane main: idle, run completed"],
    },
  ],
} as const satisfies Race;
