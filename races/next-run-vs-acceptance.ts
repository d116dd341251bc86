import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** What is said for the next run: the one that is being accepted takes it, or it waits. */
export default {
  name: "next-run-vs-acceptance",
  row: { pair: "`nextRun` × acceptance", first: "captured by this run", second: "stays for the next" },
  scenario: oneAnswer(),
  orders: [
    {
      name: "next-run-first",
      schedule: [{ at: { beforeCall: "prompt" }, call: { call: "nextRun", text: "Mind this." } }],
      proof: ["commit queue.next-run", "commit acceptance.prompt"],
      answers: { nextRun: "queued", prompt: "completed" },
      history: ["user: Mind this.", "user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    {
      name: "acceptance-first",
      schedule: [{ at: { besideCall: "prompt" }, call: { call: "nextRun", text: "Mind this." } }],
      proof: ["commit acceptance.prompt", "commit queue.next-run"],
      answers: { nextRun: "queued", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "waits, next run: Mind this.",
        "lane main: idle, run completed",
      ],
    },
  ],
  elsewhere: [
    {
      why: "nobody said anything for the next run",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
      lacks: "nextRun",
    },
  ],
} as const satisfies Race;
