import type { Race } from "../src/faults/index.ts";
import { oneAnswer } from "./workloads.ts";

/** A harness that is closed before a parked action: it is rejected, and never executed. */
export default {
  name: "close-vs-parked",
  row: {
    pair: "`close` × parked manual action",
    first: "the action is rejected unexecuted",
    second: "durable state is the committed prefix",
  },
  scenario: oneAnswer(),
  orders: [
    {
      name: "close-first",
      schedule: [{ at: { before: "request" }, call: { call: "close" } }],
      proof: ["commit generation.intent", "call close", "answer close *"],
      absent: ["effect provider.request"],
      answers: { close: "closed", prompt: "HarnessClosed" },
      history: ["user: Go.", "lane main: run open at assistant effect_pending"],
    },
    {
      name: "action-first",
      schedule: [{ at: { after: "request" }, call: { call: "close" } }],
      proof: ["effect provider.request", "call close", "answer close *"],
      absent: ["commit generation.settle.finish"],
      answers: { close: "closed", prompt: "HarnessClosed" },
      history: ["user: Go.", "lane main: run open at assistant effect_pending"],
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
    {
      why: "when the answer was stored",
      history: ["user: Go.", "assistant, stop: Done.", "lane main: run open at checkpoint"],
    },
  ],
} as const satisfies Race;
