import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** What is asked for after a run: it goes on with that, or it has ended and takes no more. */
export default {
  name: "follow-up-vs-finish",
  row: { pair: "followUp × finish", first: "the run goes on", second: "it is refused" },
  scenario: oneAnswer(),
  orders: [
    {
      name: "follow-up-first",
      schedule: [{ at: { before: "end run completed" }, call: { call: "followUp", text: "And this." } }],
      proof: ["commit queue.follow-up", "commit checkpoint.follow-up", "commit terminal.completed"],
      answers: { followUp: "queued", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: And this.",
        "assistant, stop: Done again.",
        "lane main: idle, run completed",
      ],
    },
    {
      name: "finish-first",
      schedule: [{ at: { after: "end run completed" }, call: { call: "followUp", text: "And this." } }],
      proof: ["commit terminal.completed", "answer followUp *"],
      absent: ["commit queue.follow-up"],
      answers: { followUp: "NoActiveRun", prompt: "completed" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
  ],
} as const satisfies Race;
