import type { Race } from "../src/faults/index.ts";
import { oneCall } from "./workloads.ts";

/** A queued item is taken back, or placed; whoever takes it back is told which. */
export default {
  name: "cancel-vs-consumption",
  row: {
    pair: "`cancelQueued` × checkpoint consumption",
    first: "`cancelled`",
    second: "`already_consumed`",
  },
  scenario: oneCall({ meanwhile: [{ while: { tool: "call-1" }, call: "steer", text: "Hurry." }] }),
  orders: [
    {
      name: "cancel-first",
      schedule: [{ at: { before: "inbox_consumed" }, call: { call: "cancelQueued", text: "Hurry." } }],
      proof: ["commit queue.steer", "answer cancelQueued *"],
      absent: ["commit checkpoint.steer"],
      answers: { cancelQueued: "cancelled", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
    {
      name: "consumption-first",
      schedule: [{ at: { after: "inbox_consumed" }, call: { call: "cancelQueued", text: "Hurry." } }],
      proof: ["commit checkpoint.steer", "answer cancelQueued *"],
      answers: { cancelQueued: "already_consumed", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "user: Hurry.",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
  ],
} as const satisfies Race;
