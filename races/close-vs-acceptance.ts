import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A harness that is closed before a prompt is accepted refuses it; after that the run is open in the store. */
export default {
  name: "close-vs-acceptance",
  row: {
    pair: "`close` × acceptance",
    first: "the prompt is refused, and nothing is written",
    second: "the run is open, and its call is told that the harness was closed",
  },
  // Something is written before: a store that is closed right behind its first commit has no log left that could be torn.
  scenario: {
    ...oneAnswer(),
    stimuli: [
      { call: "setName", name: "a session" },
      { call: "prompt", text: "Go." },
    ],
  },
  orders: [
    {
      name: "close-first",
      schedule: [{ at: { beforeCall: "prompt" }, call: { call: "close" } }],
      proof: ["answer close *", "answer prompt *"],
      absent: ["commit acceptance.prompt"],
      answers: { close: "closed", prompt: "Closed" },
      history: ["lane main: idle"],
    },
    {
      name: "acceptance-first",
      schedule: [{ at: { before: "generation_started" }, call: { call: "close" } }],
      proof: ["commit acceptance.prompt", "answer close *"],
      absent: ["commit generation.ready"],
      answers: { close: "closed", prompt: "HarnessClosed" },
      history: ["user: Go.", "lane main: run open at checkpoint"],
    },
  ],
  elsewhere: [
    {
      why: "nobody closed the harness before the run had ended",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    { why: "when its request was ready", history: ["user: Go.", "lane main: run open at assistant ready"] },
    {
      why: "while it was answered",
      history: ["user: Go.", "lane main: run open at assistant effect_pending"],
    },
    {
      why: "when the answer was stored",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: run open at checkpoint"],
    },
  ],
} as const satisfies Race;
