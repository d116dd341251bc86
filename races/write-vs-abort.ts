import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A write that waits in a run survives its cancellation, whichever comes first. */
export default {
  name: "write-vs-abort",
  row: { pair: "deferred write × abort", first: "the write survives", second: "the write survives" },
  scenario: oneAnswer(),
  orders: [
    {
      name: "write-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "appendMessage", text: "Note." } },
        { at: { before: "settle assistant" }, call: { call: "abort" } },
      ],
      proof: ["commit queue.write", "commit abort", "commit generation.settle.aborted"],
      answers: { abort: "cancelled", appendMessage: "appended" },
      history: ["user: Go.", "assistant, aborted: Done.", "user: Note.", "lane main: idle, run aborted"],
    },
    {
      name: "abort-first",
      schedule: [
        { at: { before: "settle assistant" }, call: { call: "abort" } },
        { at: { before: "settle assistant" }, call: { call: "appendMessage", text: "Note." } },
      ],
      proof: ["commit abort", "commit queue.write", "commit generation.settle.aborted"],
      answers: { abort: "cancelled", appendMessage: "appended" },
      history: ["user: Go.", "assistant, aborted: Done.", "user: Note.", "lane main: idle, run aborted"],
    },
  ],
  elsewhere: [
    {
      why: "the answer was lost with the process",
      history: ["user: Go.", "assistant, aborted: ", "user: Note.", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before it asked for anything",
      history: ["user: Go.", "user: Note.", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled when the answer was stored",
      history: ["user: Go.", "assistant, stop: Done.", "user: Note.", "lane main: idle, run aborted"],
    },
    {
      why: "both came when the run had ended",
      history: ["user: Go.", "assistant, stop: Done.", "user: Note.", "lane main: idle, run completed"],
    },
    {
      why: "the run answers the note, and nobody cancels it in time",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Note.",
        "assistant, stop: Done again.",
        "lane main: idle, run completed",
      ],
    },
    {
      why: "the run was cancelled before a request was sent, or its answer was lost",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Note.",
        "assistant, aborted: ",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "it was cancelled while a request was answered",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Note.",
        "assistant, aborted: Done again.",
        "lane main: idle, run aborted",
      ],
    },
    {
      why: "the note was appended before the prompt, and nobody cancelled the run in time",
      history: ["user: Note.", "user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    {
      why: "it was cancelled before it asked for anything",
      history: ["user: Note.", "user: Go.", "lane main: idle, run aborted"],
    },
    {
      why: "the run was cancelled before a request was sent, or its answer was lost",
      history: ["user: Note.", "user: Go.", "assistant, aborted: ", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled while a request was answered",
      history: ["user: Note.", "user: Go.", "assistant, aborted: Done.", "lane main: idle, run aborted"],
    },
    {
      why: "or when the answer was stored",
      history: ["user: Note.", "user: Go.", "assistant, stop: Done.", "lane main: idle, run aborted"],
    },
    {
      why: "it was cancelled when the note was answered",
      history: [
        "user: Go.",
        "assistant, stop: Done.",
        "user: Note.",
        "assistant, stop: Done again.",
        "lane main: idle, run aborted",
      ],
    },
  ],
} as const satisfies Race;
