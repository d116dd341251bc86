import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A harness that is closed while an answer is settled: it is abandoned, or stored before the seal. */
export default {
  name: "close-vs-settlement",
  row: {
    pair: "`close` × settlement",
    first: "abandoned, state stays `effect_pending`",
    second: "it committed before the seal",
  },
  scenario: oneAnswer(),
  orders: [
    {
      name: "close-first",
      schedule: [{ at: { before: "settle assistant" }, call: { call: "close" } }],
      proof: ["effect provider.request", "answer close *"],
      absent: ["commit generation.settle.finish"],
      answers: { close: "closed", prompt: "HarnessClosed" },
      history: ["user: Go.", "lane main: run open at assistant effect_pending"],
    },
    {
      name: "settlement-first",
      schedule: [{ at: { after: "settle assistant" }, call: { call: "close" } }],
      proof: ["commit generation.settle.finish", "answer close *"],
      absent: ["commit terminal.completed"],
      answers: { close: "closed", prompt: "HarnessClosed" },
      history: ["user: Go.", "assistant, stop: Done.", "lane main: run open at checkpoint"],
    },
  ],
  elsewhere: [
    {
      why: "nobody closed the harness before the run had ended",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: idle, run completed"],
    },
    { why: "it was closed before the prompt was accepted", history: ["lane main: idle"] },
    { why: "when the run was accepted", history: ["user: Go.", "lane main: run open at checkpoint"] },
    { why: "when its request was ready", history: ["user: Go.", "lane main: run open at assistant ready"] },
  ],
} as const satisfies Race;
