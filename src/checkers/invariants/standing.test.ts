/** A stored session is judged by what it holds: the hand-made states of every history are sound, and each rule can fail. */
import { describe, expect, it } from "vitest";
import type { Register } from "../../model/index.ts";
import { sampleEntries } from "../../model/samples.ts";
import type { SessionDump } from "../../storage/index.ts";
import { StoreModel } from "../store-model.ts";
import { dumpOf } from "../stored-state.ts";
import { HISTORIES } from "../testing/histories.ts";
import { brokenInvariants } from "./standing.ts";

/** The state after each commit of a history. */
function* statesOf(name: string): Generator<SessionDump> {
  const history = HISTORIES[name]?.();
  const model = StoreModel.fresh();
  for (const event of history?.events ?? []) {
    model.observe(event);
    if (event.kind === "commit") yield dumpOf(model);
  }
}

describe("the invariants of a stored session", () => {
  it.each(Object.keys(HISTORIES))("hold after each commit of %s", (name) => {
    let count = 0;
    for (const dump of statesOf(name)) {
      expect(brokenInvariants(dump)).toEqual([]);
      count += 1;
    }
    expect(count).toBeGreaterThan(0);
  });

  const lane = [
    { namespace: "lane.leaf", key: "main", value: null, seq: 1 },
    { namespace: "lane.state", key: "main", value: { currentOperationId: null, pendingNextRun: [] }, seq: 2 },
  ] as Register[];
  const [first, second] = [
    { ...sampleEntries().message, id: "a", parentId: null, seq: 3 },
    { ...sampleEntries().message, id: "b", parentId: "a", seq: 4 },
  ];
  const dump = (change: Partial<SessionDump>): SessionDump => ({
    ...dumpOf(StoreModel.fresh()),
    registers: lane,
    entries: [first, second],
    ...change,
  });
  const register = (namespace: string, key: string, value: unknown) =>
    ({ namespace, key, value, seq: 9 }) as Register;

  it.each<[string, number, Partial<SessionDump>]>([
    ["two rows with one seq", 2, { entries: [first, { ...second, seq: 3 }] }],
    ["a parent that is not there", 11, { entries: [second] }],
    [
      "a parent behind its child",
      11,
      {
        entries: [
          { ...second, seq: 3 },
          { ...first, seq: 4 },
        ],
      },
    ],
    ["a value of another namespace", 3, { registers: [...lane, register("lane.config", "main", { x: 1 })] }],
    ["an entry of no known shape", 7, { entries: [{ ...first, type: "poem" } as never] }],
    ["a leaf that is no entry", 20, { registers: [register("lane.leaf", "main", "gone"), ...lane.slice(1)] }],
    [
      "input that nobody has queued",
      13,
      {
        registers: [...lane, register("pending.entry", "p", { type: "custom", customType: "note" })],
      },
    ],
    [
      "an open operation without its registers",
      12,
      {
        registers: [
          lane[0] as Register,
          register("lane.state", "main", { currentOperationId: "o", pendingNextRun: [] }),
        ],
      },
    ],
  ])("are broken by %s", (_name, number, change) => {
    expect(brokenInvariants(dump({}))).toEqual([]);
    expect(brokenInvariants(dump(change)).map((broken) => broken.number)).toContain(number);
  });

  it("take messages of an application's own roles if their schemas are given, and refuse them otherwise", () => {
    const entries = [{ ...first, message: { role: "weather", sky: "blue" } as never }];
    expect(brokenInvariants(dump({ entries })).map(({ number }) => number)).toEqual([7]);
    expect(brokenInvariants(dump({ entries }), { weather: {} })).toEqual([]);
  });
});
