import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A correction and a cancellation: what was queued is drained, what comes later is refused. */
export default {
  name: "steer-vs-abort",
  row: { pair: "steer × abort", first: "it is drained with the run", second: "it is refused" },
  scenario: oneAnswer(),
  orders: [
    {
      name: "steer-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "steer", text: "Hurry." } },
        { at: { before: "settle assistant" }, call: { call: "abort" } },
      ],
      proof: ["commit queue.steer", "commit abort"],
      answers: { steer: "queued", abort: "cancelled" },
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
    {
      name: "abort-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "abort" } },
        { at: { before: "settle assistant" }, call: { call: "steer", text: "Hurry." } },
      ],
      proof: ["commit abort", "answer steer *"],
      absent: ["commit queue.steer"],
      answers: { steer: "NoActiveRun", abort: "cancelled" },
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "it was cancelled, and the answer was lost with the process",
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before it asked for anything",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled when the answer was stored",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run aborted"],
    },
    {
      why: "both came when the run had ended",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    {
      why: "the correction was placed, and then the run was cancelled",
      history: ["user: Go.", "assistant, stop: Done.", "user: Hurry.", "lane main: idle, run aborted"],
    },
    {
      why: "the correction was answered, and nobody cancelled the run in time",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Hurry.",
        "assistant, stop: Done again.",
        "lane main: idle, run completed",
      ],
    },
    {
      why: "the run was cancelled before a request was sent, or its answer was lost",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Hurry.",
        "assistant, aborted: ",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "it was cancelled while a request was answered",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Hurry.",
        "assistant, aborted: Done again.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "it was cancelled when that was answered",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Hurry.",
        "assistant, stop: Done again.",
        "lane main: idle, run aborted",
      ],
    },
  ],
} as const satisfies Race;
