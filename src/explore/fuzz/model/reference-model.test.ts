/** The reference model passes what is right, and has a word for everything that is not. */
import { describe, expect, it } from "vitest";
import type { Scenario } from "../../../faults/index.ts";
import type { Account, Said } from "../../../subject/index.ts";
import { type CaseHistory, judgeByModel } from "./reference-model.ts";

const usage = { input: 3, output: 1 };

const SCENARIO: Scenario = {
  name: "drawn",
  title: "drawn",
  settings: {},
  tools: [{ name: "pay", replay: "never", does: { kind: "answers", text: "paid" } }],
  turns: [
    [
      {
        text: "pays twice",
        toolCalls: [
          { id: "call-1", name: "pay", arguments: {} },
          { id: "call-2", name: "pay", arguments: {} },
        ],
        stopReason: "toolUse",
        usage,
      },
    ],
    [{ text: "done", stopReason: "stop", usage }],
  ],
  stimuli: [
    { call: "prompt", text: "first" },
    { call: "prompt", text: "second" },
    { call: "nextRun", text: "later" },
    { call: "cancelQueued", text: "later" },
  ],
  lanes: [{ lane: "side", turns: [], stimuli: [{ call: "nextRun", text: "aside" }] }],
};

function said(...rows: readonly (Partial<Said> & Pick<Said, "by" | "text">)[]): Said[] {
  return rows.map((row, index) => {
    return { id: `e${index}`, parentId: index === 0 ? null : `e${index - 1}`, calls: [], ...row };
  });
}

const SAID = said(
  { by: "user", text: "first" },
  { by: "model", text: "pays twice", calls: ["call-1", "call-2"] },
  { by: "tool", text: "paid", answers: "call-1" },
  { by: "tool", text: "paid", answers: "call-2" },
  { by: "model", text: "done" },
  { by: "user", text: "second" },
  { by: "model", text: "done" },
);

const END: Account = {
  lanes: [
    { lane: "main", isIdle: true, conversation: SAID.map(({ id }) => id) },
    { lane: "side", isIdle: true, conversation: [] },
  ],
  said: SAID,
  waiting: [{ text: "aside", lane: "side" }],
  leftovers: [],
  spent: { input: 9, output: 3, bookings: 3 },
};

const request = (turn: number) => ({ kind: "request", turn, ask: 1, usage }) as const;
const pays = (callId: string) => ({ kind: "tool", tool: "pay", callId, argumentsText: "{}" }) as const;

const RIGHT: CaseHistory = {
  scenario: SCENARIO,
  lives: [{ told: [], left: undefined }],
  end: END,
  rows: [request(0), pays("call-1"), pays("call-2"), request(1), request(1)],
};

const found = (changed: Partial<CaseHistory>) =>
  judgeByModel({ ...RIGHT, ...changed }).violations.map(({ signature }) => signature);
const ending = (changed: Partial<Account>) => found({ end: { ...END, ...changed } });
const withSaid = (change: (rows: Said[]) => void) => {
  const rows = SAID.map((row) => ({ ...row }));
  change(rows);
  return ending({ said: rows });
};
const later = { call: "nextRun", text: "later" } as const;
const takesBack = { call: "cancelQueued", text: "later" } as const;

describe("the reference model", () => {
  it("passes what is right, however often a life ended", () => {
    expect(found({})).toEqual([]);
    expect(found({ lives: [{ told: [], left: END }, ...RIGHT.lives] })).toEqual([]);
  });

  it.each<[string, () => readonly string[]]>([
    [
      "a message in two places",
      () => ending({ waiting: [...END.waiting, { text: "first", lane: undefined }] }),
    ],
    [
      "a message that nobody said",
      () => ending({ waiting: [...END.waiting, { text: "?", lane: undefined }] }),
    ],
    ["a message is lost: it was asked for", () => ending({ waiting: [] })],
    [
      "a message is lost: it was accepted",
      () => {
        const told = [{ lane: "side", call: { call: "nextRun", text: "aside" }, phase: "done" } as const];
        return found({ lives: [{ told, left: undefined }], end: { ...END, waiting: [] } });
      },
    ],
    [
      "a message is lost: it had a place",
      () => {
        const left = { ...END, said: [...SAID, ...said({ by: "user", text: "later" })] };
        return found({ lives: [{ told: [], left }, ...RIGHT.lives] });
      },
    ],
    [
      "a message that was taken back",
      () => {
        const told = [
          { lane: "main", call: later, phase: "done" } as const,
          { lane: "main", call: takesBack, phase: "done" } as const,
        ];
        const waiting = [...END.waiting, { text: "later", lane: "main" }];
        return found({ lives: [{ told, left: undefined }], end: { ...END, waiting } });
      },
    ],
    [
      "prompts out of order",
      () =>
        withSaid((rows) => {
          Object.assign(rows[0] as Said, { text: "second" });
          Object.assign(rows[5] as Said, { text: "first" });
        }),
    ],
    ["a message of another lane", () => ending({ waiting: [{ text: "aside", lane: "main" }] })],
    [
      "calls not answered once and in their order",
      () => withSaid((rows) => Object.assign(rows[3] as Said, { answers: "call-1" })),
    ],
    [
      "a result without its call",
      () => withSaid((rows) => Object.assign(rows[3] as Said, { answers: "call-9" })),
    ],
    ["a call that is never to be repeated ran again", () => found({ rows: [...RIGHT.rows, pays("call-1")] })],
    ["more is booked than was charged", () => ending({ spent: { input: 12, output: 4, bookings: 4 } })],
    ["more was lost than was under way", () => ending({ spent: { input: 6, output: 2, bookings: 2 } })],
    ["no such lane", () => ending({ lanes: END.lanes.slice(0, 1) })],
    [
      "a lane is not idle",
      () => ending({ lanes: END.lanes.map((lane) => ({ ...lane, isIdle: lane.lane === "main" })) }),
    ],
    ["leftovers", () => ending({ leftovers: ["op.state/o"] })],
  ])("finds: %s", (signature, look) => {
    expect(look()).toContain(signature);
  });

  it("does not miss what was cancelled or taken back before it had a place, nor what a death made unknown", () => {
    const told = [{ lane: "main", call: later, phase: "done" } as const];
    expect(found({ lives: [{ told, left: undefined }, ...RIGHT.lives] })).toEqual([]);
    const end = { ...END, spent: { input: 6, output: 2, bookings: 2 } };
    expect(found({ lives: [{ told: [], left: END }, ...RIGHT.lives], end })).toEqual([]);
  });
});
