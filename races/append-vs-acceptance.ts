import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A message that is appended while a prompt is accepted stands before it, or waits in its run. */
export default {
  name: "append-vs-acceptance",
  row: {
    pair: "`appendMessage` × acceptance",
    first: "it stands before the prompt",
    second: "it waits for the next checkpoint of the run",
  },
  scenario: oneAnswer(),
  orders: [
    {
      name: "append-first",
      schedule: [{ at: { beforeCall: "prompt" }, call: { call: "appendMessage", text: "Note." } }],
      proof: ["commit tree.append", "commit acceptance.prompt"],
      answers: { appendMessage: "appended", prompt: "completed" },
      history: ["user: Note.", "user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    {
      name: "acceptance-first",
      schedule: [{ at: { besideCall: "prompt" }, call: { call: "appendMessage", text: "Note." } }],
      proof: ["commit acceptance.prompt", "commit queue.write"],
      answers: { appendMessage: "appended", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Note.",
        "assistant, stop: Done again.",
        "lane main: idle, run completed",
      ],
    },
  ],
  elsewhere: [
    {
      why: "nobody appended anything",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
      lacks: "appendMessage",
    },
    {
      why: "it was appended when the run had ended",
      history: ["user: Go.", "assistant, stop: Done.", "user: Note.", "lane main: idle, run completed"],
    },
  ],
} as const satisfies Race;
