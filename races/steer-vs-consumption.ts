import type { Race } from "../src/faults/index.ts";
import { oneAnswer, oneCall } from "./workloads.ts";

/** A correction that comes before a checkpoint takes what is queued is placed with it; one that comes after it waits for the next one. */
export default {
  name: "steer-vs-consumption",
  row: {
    pair: "steer × checkpoint consumption",
    first: "placed at this checkpoint",
    second: "placed at the next one, and the run goes on",
  },
  scenario: oneCall({
    settings: { ...oneAnswer().settings, steeringMode: "all" },
    meanwhile: [{ while: { tool: "call-1" }, call: "steer", text: "Quietly." }],
  }),
  orders: [
    {
      name: "steer-first",
      schedule: [{ at: { before: "inbox_consumed" }, call: { call: "steer", text: "Hurry." } }],
      proof: ["commit queue.steer", "commit queue.steer", "commit checkpoint.steer"],
      answers: { steer: "queued", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "user: Quietly.",
        "user: Hurry.",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
    {
      name: "consumption-first",
      schedule: [{ at: { after: "inbox_consumed" }, call: { call: "steer", text: "Hurry." } }],
      proof: ["commit checkpoint.steer", "commit queue.steer", "commit checkpoint.steer"],
      answers: { steer: "queued", prompt: "completed" },
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "user: Quietly.",
        "assistant, stop: Done.",
        "user: Hurry.",
        "assistant, stop: Done again.",
        "lane main: idle, run completed",
      ],
    },
  ],
  elsewhere: [
    {
      why: "nobody said the second one",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "user: Quietly.",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
      lacks: "steer",
    },
    {
      why: "it came before the other one",
      history: [
        "user: Go.",
        "assistant, toolUse: calls look call-1",
        "result call-1: seen",
        "user: Hurry.",
        "user: Quietly.",
        "assistant, stop: Done.",
        "lane main: idle, run completed",
      ],
    },
  ],
} as const satisfies Race;
