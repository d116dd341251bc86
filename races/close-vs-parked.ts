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
      proof: ["commit generation.intent", "answer close closed", "answer prompt HarnessClosed"],
      absent: ["effect provider.request"],
      answers: { close: "closed", prompt: "HarnessClosed" },
      history: ["user: Go.", "lane main: run open at assistant effect_pending"],
    },
    {
      name: "action-first",
      schedule: [{ at: { after: "request" }, call: { call: "close" } }],
      proof: ["effect provider.request", "answer close closed", "answer prompt HarnessClosed"],
      absent: ["commit generation.settle.finish"],
      answers: { close: "closed", prompt: "HarnessClosed" },
      history: ["user: Go.", "lane main: run open at assistant effect_pending"],
    },
  ],
} as const satisfies Race;
