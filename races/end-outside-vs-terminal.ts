import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** Somebody else ends the run just before it ends itself, or finds it ended. */
export default {
  name: "end-outside-vs-terminal",
  row: {
    pair: "external finalization × terminal",
    first: "its end is the one that counts",
    second: "there is nothing to end",
  },
  scenario: oneAnswer(),
  orders: [
    {
      name: "end-first",
      schedule: [{ at: { before: "end run completed" }, call: { call: "endOutside" } }],
      proof: ["commit terminal.outside", "answer endOutside *"],
      absent: ["commit terminal.completed"],
      answers: { endOutside: "ended", prompt: "aborted" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run aborted"],
    },
    {
      name: "terminal-first",
      schedule: [{ at: { after: "end run completed" }, call: { call: "endOutside" } }],
      proof: ["commit terminal.completed", "answer endOutside *"],
      absent: ["commit terminal.outside"],
      answers: { endOutside: "nothing open", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
  ],
  elsewhere: [
    {
      why: "the run was ended before it was answered",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
  ],
} as const satisfies Race;
