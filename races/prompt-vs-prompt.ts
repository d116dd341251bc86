import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** Two prompts, one lane: whoever is accepted first has it, and the other is told so and leaves nothing. */
export default {
  name: "prompt-vs-prompt",
  row: {
    pair: "prompt × prompt, one lane",
    first: "the first is accepted",
    second: "the other is told that the lane is busy",
  },
  scenario: oneAnswer(),
  orders: [
    {
      name: "one-first",
      schedule: [
        { at: { besideCall: "prompt" }, call: { call: "prompt", text: "No, go there." }, as: "other" },
      ],
      proof: [
        "call prompt",
        "call other",
        "commit acceptance.prompt",
        "answer other *",
        "commit terminal.completed",
      ],
      answers: { prompt: "completed", other: "LaneBusy" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    {
      name: "other-first",
      schedule: [
        { at: { beforeCall: "prompt" }, call: { call: "prompt", text: "No, go there." }, as: "other" },
      ],
      proof: [
        "call other",
        "call prompt",
        "commit acceptance.prompt",
        "answer prompt *",
        "commit terminal.completed",
      ],
      answers: { prompt: "LaneBusy", other: "completed" },
      history: ["user: No, go there.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
  ],
  elsewhere: [
    {
      why: "the other one is asked when the run has ended",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: No, go there.",
        "assistant, stop: Done again.",
        "lane main: idle, run completed",
      ],
    },
    {
      why: "the process died, and the one that had been refused asks again",
      history: [
        "user: No, go there.",
        "assistant, stop: Done.",
        "user: Go.",
        "assistant, stop: Done again.",
        "lane main: idle, run completed",
      ],
    },
  ],
} as const satisfies Race;
