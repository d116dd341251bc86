/** Wrong ledgers that must be found, and right ones that must pass, crashes included. */
import { describe, expect, it } from "vitest";
import { zeroUsage } from "../model/index.ts";
import { History, twoTools } from "./testing/history.ts";
import { judged, signatures, withEvents, withWrites } from "./testing/judging.ts";
import { usageOf } from "./testing/values.ts";

const found = (history: History) => signatures(history, "ledger-conservation");
const pending = (options = {}) => new History(options).seed().prompt().ready().intent();
const planned = () =>
  pending()
    .request(0)
    .settleTools([
      { id: "call_1", name: "read" },
      { id: "call_2", name: "delete" },
    ])
    .toolIntent(0, "safe");
const withStats = (history: History, edit: (stats: { messageCount: number; usage: object }) => object) =>
  withEvents(history, (event) => {
    if (event.kind !== "commit" || event.boundary.label !== "generation.settle.finish") return event;
    const payload = event.payload as { stats: { messageCount: number; usage: object } };
    return { ...event, payload: { ...payload, stats: { ...payload.stats, ...edit(payload.stats) } } };
  });

const wrong: Record<string, readonly [string, () => History]> = {
  "stats that forget the ledger": [
    "stats differ from the ledger",
    () => withStats(twoTools(), () => ({ usage: zeroUsage() })),
  ],
  "stats whose cost is off": [
    "stats differ from the ledger",
    () =>
      withStats(twoTools(), ({ usage }) => ({
        usage: { ...usage, cost: { ...zeroUsage().cost, total: 1 } },
      })),
  ],
  "stats that miscount messages": [
    "stats count other messages",
    () => withStats(twoTools(), ({ messageCount }) => ({ messageCount: messageCount + 1 })),
  ],
  "a settlement that books less than was charged": [
    "booked another amount than was charged",
    () => pending().request(0).settleFinish("done", usageOf(1, 1)),
  ],
  "a settlement that books nothing": [
    "booked another amount than was charged",
    () => pending().request(0).settleFinish("done", zeroUsage()),
  ],
  "a settlement without its ledger row": [
    "a charge of this life is not booked",
    () =>
      withWrites(pending().request(0).settleFinish(), "generation.settle.finish", (writes) =>
        writes.filter(({ kind }) => kind !== "usage"),
      ),
  ],
  "a request given up in the life that sent it": [
    "a charge of this life is not booked",
    () => pending({ maxAttempts: 2 }).request(0).retryUnknown(),
  ],
  "a run that ends before its request is settled": [
    "a charge of this life is not booked",
    () => pending().request(0).aborted(),
  ],
  "a request that is sent twice and booked once": [
    "the bill charges what is not in the ledger",
    () => pending().request(0).request(0).settleFinish(),
  ],
  "a charge that is booked and was never made": [
    "booked without a charge",
    () => pending().settleFinish("done", usageOf(10, 5)),
  ],
  "a ledger with more than the bill": [
    "the ledger books what was not billed",
    () => pending().settleFinish("done", usageOf(10, 5)),
  ],
  "a lost request that is booked after the crash": [
    "booked without a charge",
    () => pending().request(0).crash().settleFinish("done", usageOf(10, 5)),
  ],
  "an execution that is charged and not booked": [
    "a charge of this life is not booked",
    () => planned().execute("call_1", "read").toolSettle(0),
  ],
  "an execution that is booked at another price": [
    "booked another amount than was charged",
    () =>
      planned()
        .execute("call_1", "read")
        .toolSettle(0, { usage: usageOf(5, 5) }),
  ],
  "an execution that is free and booked": [
    "booked without a charge",
    () => {
      const history = planned()
        .toolIntent(1, "never")
        .execute("call_1", "read")
        .toolSettle(0, { usage: usageOf(1, 1) });
      return history.execute("call_2", "delete").toolSettle(1, { usage: usageOf(1, 1) });
    },
  ],
};

const right: Record<string, () => History> = {
  "two tools": () => twoTools(),
  "a lost request, and the later attempt": () =>
    pending({ maxAttempts: 2 }).request(0).crash().retryUnknown().intent().request(0).settleFinish(),
  "a lost request that was never sent": () =>
    pending({ maxAttempts: 2 }).crash().retryUnknown().intent().request(0).settleFinish(),
  "a lost request at the cap": () => pending().request(0).crash().settleSynthetic().failed(),
  "a lost execution, run again": () =>
    planned()
      .execute("call_1", "read")
      .crash()
      .execute("call_1", "read")
      .toolSettle(0, { usage: usageOf(1, 1) }),
  "a lost execution, interrupted": () => planned().execute("call_1", "read").crash().toolInterrupted(0),
  "an adjustment by the caller": () =>
    twoTools().commit("usage.adjust", [
      { kind: "usage", row: { id: "adjustment", adjustment: true, usage: usageOf(-3, 0) } },
    ]),
};

describe("ledger conservation", () => {
  it.each(Object.entries(wrong))("finds %s", (_, [signature, build]) => {
    expect(found(build())).toContain(signature);
  });

  it.each(Object.entries(right))("passes %s", (_, build) => {
    expect(judged(build(), "ledger-conservation")).toEqual([]);
  });
});
