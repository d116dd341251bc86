/** Every run that an exploration names can be repeated by its name, and says the same again. */
import { beforeEach, describe, expect, it } from "vitest";
import type { Subject } from "../subject/index.ts";
import type { ExplorePlan } from "./plan.ts";
import { verdictOf } from "./result.ts";
import { exploreLadders, repeat } from "./testing/explorations.ts";
import { CLIMB, type Flaws, ladder } from "./testing/ladder.ts";

async function again(text: string, subjects: readonly Subject[]) {
  const [, , names = ""] = text.split("/");
  const ids = names.split("=");
  const named = ids.flatMap((id) => subjects.find((subject) => subject.id === id) ?? []);
  expect(named).toHaveLength(ids.length);
  return repeat(text, { scenario: CLIMB, subjects: named });
}

const refusesAfterCrash: Flaws = {
  beforeRung: ({ incarnation }) =>
    incarnation > 0 ? Promise.reject(new Error("the ladder is gone")) : undefined,
};
const refusesAfterTwo: Flaws = {
  beforeRung: ({ incarnation }) =>
    incarnation > 1 ? Promise.reject(new Error("the ladder is gone")) : undefined,
};
const multiWriter = { grade: "multi-writer" as const };

let count = 0;
beforeEach(() => {
  count = 0;
});
/** Each life writes something else: the walk differs from the run that nobody walked. */
const undeclared: Flaws = { word: ({ incarnation }, _rung, word) => `${word} ${incarnation} ${count++}` };

/** One exploration for each kind of run, whose failures must come again by their names. */
const kinds: readonly {
  readonly kind: string;
  readonly subjects: readonly Subject[];
  readonly changed?: Partial<ExplorePlan>;
}[] = [
  { kind: "walk", subjects: [ladder(undeclared)] },
  { kind: "crash", subjects: [ladder(refusesAfterCrash)] },
  { kind: "crash, with another seed", subjects: [ladder(refusesAfterCrash)], changed: { seed: 42 } },
  { kind: "crash, twice", subjects: [ladder(refusesAfterTwo)], changed: { depth: 2 } },
  { kind: "takeover", subjects: [ladder({ takesStaleOwners: true }, multiWriter)] },
  {
    kind: "drives",
    subjects: [
      ladder(
        { word: ({ drive }, _rung, word) => `${word} ${drive}` },
        { drives: ["automatic", "manual"] as const },
      ),
    ],
  },
  {
    kind: "backends",
    subjects: [
      ladder({}, { id: "one" }),
      ladder({ word: (_boot, _rung, word) => word.toUpperCase() }, { id: "two" }),
    ],
  },
];

describe("a run that failed", () => {
  it.each(kinds.map((one) => [one.kind, one] as const))(
    "is repeated by its id, with the same findings: %s",
    async (kind, { subjects, changed }) => {
      const { failures } = await exploreLadders(subjects, changed);
      const ids = [...new Set(failures.map(({ id }) => id))].filter((id) =>
        id.startsWith(kind.split(",")[0] ?? ""),
      );
      expect(ids.length).toBeGreaterThan(0);
      for (const id of ids) {
        const { judgement } = await again(id, subjects);
        const seen = judgement.violations.map(({ checker, signature }) => `${checker} ${signature}`);
        const before = failures.filter((failure) => failure.id === id);
        expect(judgement.id).toBe(id);
        for (const { checker, signature } of before) expect(seen).toContain(`${checker} ${signature}`);
      }
    },
  );

  it("is repeated as a doubt where it was one", async () => {
    const subjects = [ladder({ neverEnds: true })];
    const { judgement } = await again("walk/climb/ladder", subjects);
    expect(judgement.inconclusive?.signature).toBe("cap-reached");
  });
});

describe("a run that survived", () => {
  it("is repeated with everything that was observed, the death and the life after it included", async () => {
    const { judgement, events } = await again("crash/climb/ladder/rung#1:after", [ladder()]);
    expect(verdictOf(judgement)).toBe("survived");
    expect(events.map((event) => (event.kind === "crash" ? event.at : event.kind))).toEqual([
      "boot",
      "effect",
      "commit",
      "rung#1:after",
      "boot",
      "effect",
      "commit",
    ]);
  });

  it.each([
    ["walk/climb/ladder", 5],
    ["crash/climb/ladder/rung#1:after+rung#1:before", 10],
    ["takeover/climb/ladder/rung#1:before", 14],
    ["drives/climb/ladder", 0],
    ["backends/climb/ladder=other/rung#1:after", 0],
  ])("survives again: %s", async (id, eventCount) => {
    const subjects = [
      ladder({}, { ...multiWriter, drives: ["automatic", "manual"] as const }),
      ladder({}, { id: "other" }),
    ];
    const { judgement, events } = await again(id, subjects);
    expect(verdictOf(judgement)).toBe("survived");
    expect(events).toHaveLength(eventCount);
  });
});

describe("a run id that leads nowhere", () => {
  it("is a doubt where one of the subjects that must agree does not come there", async () => {
    const subjects = [ladder(), ladder({}, { id: "other" }), ladder(refusesAfterCrash, { id: "lame" })];
    const { judgement } = await again("backends/climb/ladder=other=lame/rung#1:after", subjects);
    expect(judgement.inconclusive?.signature).toBe("not-reached");
  });

  it("is a doubt, and accuses nobody, where its parts make no run", async () => {
    const strangers = [ladder(), { ...ladder({}, { id: "other" }), family: "others" }];
    const runs = [
      await again("takeover/climb/ladder/rung#1:before", [ladder()]),
      await again("backends/climb/ladder=other/rung#1:after", strangers),
      await again("backends/climb/ladder/rung#1:after", [ladder()]),
    ];
    expect(runs.map(({ judgement }) => judgement.inconclusive?.message)).toEqual([
      expect.stringContaining("a subject whose sessions another process can take over"),
      expect.stringContaining("subjects of one family"),
      expect.stringContaining("several subjects"),
    ]);
  });

  it.each([
    ["crash/climb/ladder/rung#3:after", "not-reached"],
    ["crash/climb/ladder/rung#1:inside@7", "not-reached"],
    ["crash/climb/ladder/rung#2:after+rung#1:before", "not-reached"],
    ["takeover/climb/ladder/rung#3:before", "not-reached"],
    ["drives/climb/ladder", "not-reached"],
    ["backends/climb/ladder/rung#1:after", "not-reached"],
    ["kill/climb/ladder/rung#1:after", "not-reached"],
  ])("is a doubt, not a survival: %s", async (id, signature) => {
    const { judgement, events } = await again(id, [ladder()]);
    expect(verdictOf(judgement)).toBe("inconclusive");
    expect(judgement.inconclusive?.signature).toBe(signature);
    expect(events).toEqual([]);
  });
});
