import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A cancellation and what a hook wants said before the run ends: it is dropped, or it stands in a run that is cancelled. */
export default {
  name: "abort-vs-run-end-follow-up",
  row: {
    pair: "abort × `before_run_end` follow-up",
    first: "the follow-up is dropped",
    second: "it is committed, and the run goes on until it is cancelled",
  },
  scenario: { ...oneAnswer(), runEnd: "And this." },
  orders: [
    {
      name: "abort-first",
      schedule: [{ at: { before: "run_end_followed_up" }, call: { call: "abort" } }],
      proof: ["commit generation.settle.finish", "answer abort *", "commit terminal.aborted"],
      absent: ["commit checkpoint.run-end-follow-up"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run aborted"],
    },
    {
      name: "follow-up-first",
      schedule: [{ at: { after: "run_end_followed_up" }, call: { call: "abort" } }],
      proof: ["commit checkpoint.run-end-follow-up", "answer abort *", "commit terminal.aborted"],
      answers: { abort: "cancelled", prompt: "aborted" },
      history: ["user: Go.", "assistant, stop: Done.", "user: And this.", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "nobody cancelled the run",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: And this.",
        "assistant, stop: Done again.",
        "lane main: idle, run completed",
      ],
      lacks: "abort",
    },
    {
      why: "the run was cancelled before it asked for anything",
      history: ["user: Go.", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before a request was sent, or its answer was lost",
      history: ["user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled while a request was answered",
      history: ["user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before a request was sent, or its answer was lost",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: And this.",
        "assistant, aborted: ",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "it was cancelled while a request was answered",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: And this.",
        "assistant, aborted: Done again.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "it was cancelled when the second answer was stored",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: And this.",
        "assistant, stop: Done again.",
        "lane main: idle, run aborted",
      ],
    },
  ],
} as const satisfies Race;
