import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/**
 * Another process takes a session over whose owner has stalled longer than its lease lasts: before a commit of the owner,
 * which is refused then, or after it, so that it is found. Only stores with a lease have this race.
 */
export default {
  name: "takeover-vs-commit",
  row: {
    pair: "lease takeover × commit (SQLite)",
    first: "the commit of the stale owner is refused, and its successor does the work",
    second: "the successor goes on behind the commit, and the stale owner writes nothing more",
  },
  scenario: oneAnswer(),
  orders: [
    {
      name: "takeover-first",
      schedule: [],
      stallsBefore: "generation.settle.finish",
      proof: [
        "effect provider.request",
        "boot 1",
        "commit generation.settle.finish",
        "refused generation.settle.finish",
      ],
      answers: {},
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    {
      name: "commit-first",
      schedule: [],
      stallsBefore: "terminal.completed",
      proof: [
        "commit generation.settle.finish",
        "boot 1",
        "commit terminal.completed",
        "refused terminal.completed",
      ],
      answers: {},
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
  ],
} as const satisfies Race;
