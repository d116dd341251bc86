/**
 * Every row of the catalogue has right examples that are accepted under its name, and is refused when any one write is
 * missing, swapped with its neighbour, or joined by a foreign one.
 */
import { describe, expect, it } from "vitest";
import type { Write } from "../../model/index.ts";
import { HISTORIES } from "../testing/histories.ts";
import { judged } from "../testing/judging.ts";
import type { Step } from "../testing/session-history.ts";
import { drop, set, usageOf } from "../testing/values.ts";
import { CATALOGUE } from "./catalogue.ts";
import { complaintOf, recognise } from "./recognise.ts";
import { SAME_PHASE } from "./row.ts";
import { siteOf } from "./site.ts";

const steps: readonly Step[] = Object.values(HISTORIES).flatMap((build) => build().steps);
const names = CATALOGUE.map(({ name }) => name);

/** What a broken transaction is taken for. */
const taken = (step: Step, writes: readonly Write[]) => {
  const found = recognise(writes, step.before);
  return found.ok ? found.name : "refused";
};
const examples = (name: string) => steps.filter(({ label }) => label === name);

describe("the catalogue", () => {
  it("names each row once, with its section and its words", () => {
    expect(new Set(names).size).toBe(names.length);
    for (const { name, section, says } of CATALOGUE) {
      expect(name).toMatch(/^[a-z]+(?:[.-][a-z]+)*$/);
      expect(section).toMatch(/^§\d\.\d/);
      expect(says.length).toBeGreaterThan(10);
    }
  });

  it("has a right example of every row", () => {
    expect(names.filter((name) => examples(name).length === 0)).toEqual([]);
  });

  it.each(Object.entries(HISTORIES))("explains every transaction of %s", (_, build) => {
    for (const step of build().steps) {
      const found = recognise(step.writes, step.before);
      expect(found.ok ? found.name : found.message).toBe(step.label);
    }
  });

  it.each(Object.entries(HISTORIES))("belongs to judges that pass %s", (_, build) => {
    expect(judged(build())).toEqual([]);
  });
});

describe("rows are sorted out", () => {
  const isSame = (found: ReturnType<typeof recognise>, names: readonly string[]) =>
    found.ok ? names.length === 1 && names[0] === found.name : names.length !== 1;

  it.each(names)("by forms and control without losing %s", (name) => {
    for (const { writes, before } of examples(name)) {
      const broken = [
        ...writes.map((_, index) => writes.filter((_write, place) => place !== index)),
        ...writes.map((write, index) => [...writes.slice(0, index), write, ...writes.slice(index)]),
        [...writes].reverse(),
      ];
      for (const each of [writes, ...broken]) {
        const site = siteOf(each, before);
        const conforming = CATALOGUE.filter((row) => {
          // Whether the phase stays is left to the row's facts here.
          const leads = row.to === SAME_PHASE || row.to.includes(site.to);
          return row.from.includes(site.from) && leads && complaintOf(row, site) === undefined;
        });
        const found = recognise(each, before);
        const all = conforming.map((row) => row.name);
        expect(isSame(found, all), `${name}: ${all} and ${found.ok && found.name}`).toBe(true);
      }
    }
  });
});

describe("each row is refused", () => {
  it.each(names)("%s with any one write missing", (name) => {
    for (const step of examples(name)) {
      step.writes.forEach((left, index) => {
        const writes = step.writes.filter((_write, place) => place !== index);
        // A hook may report no usage, and an unlabelled navigation is one too; nothing else may be left out.
        if (left.kind === "usage" && name.endsWith(".from-hook")) return;
        expect(taken(step, writes), `${name} without write ${index}`).toBe("refused");
      });
    }
  });

  it.each(names)("%s with two neighbouring writes swapped", (name) => {
    for (const step of examples(name)) {
      for (let index = 1; index < step.writes.length; index++) {
        const writes = [...step.writes];
        const [left, right] = [writes[index - 1], writes[index]];
        if (left === undefined || right === undefined || isOneScan(left, right)) continue;
        writes[index - 1] = right;
        writes[index] = left;
        expect(taken(step, writes), `${name} with writes ${index - 1} and ${index} swapped`).toBe("refused");
      }
    }
  });

  it.each(names)("%s with a foreign write anywhere", (name) => {
    const foreign: readonly Write[] = [
      set("fact.name", "", "stray"),
      set("lane.leaf", "stray", null),
      set("op.tool_args", "stray:step:0", {}),
      drop("pending.entry", "stray"),
      { kind: "usage", row: { id: "stray", adjustment: false, usage: usageOf(1, 1) } },
    ];
    for (const step of examples(name)) {
      for (const write of foreign) {
        for (let index = 0; index <= step.writes.length; index++) {
          const writes = [...step.writes.slice(0, index), write, ...step.writes.slice(index)];
          // A hook's usage has no reserved id: any row may be it, once, at its place.
          const isHooks = write.kind === "usage" && name.endsWith(".from-hook") && index === 0;
          if (isHooks && !step.writes.some(({ kind }) => kind === "usage")) continue;
          expect(taken(step, writes), `${name} with ${JSON.stringify(write)} at ${index}`).toBe("refused");
        }
      }
    }
  });

  it.each(names)("%s written twice in one transaction", (name) => {
    for (const step of examples(name)) {
      expect(taken(step, [...step.writes, ...step.writes]), name).toBe("refused");
    }
  });

  it.each(names)("%s once it was committed, but for setters and admissions that may be repeated", (name) => {
    const repeatable = ["lane.configure", "fact.write", "usage.adjust"];
    for (const step of examples(name)) {
      const after = step.before.fork();
      const firstSeq = 1_000;
      after.apply(step.writes, {
        firstSeq,
        seqs: step.writes.map((_, index) => firstSeq + index),
        timestamp: 0,
      });
      const found = recognise(step.writes, after);
      if (repeatable.includes(name)) continue;
      const again = name === "lane.seed" ? "lane.configure" : "refused";
      expect(found.ok ? found.name : "refused", name).toBe(again);
    }
  });
});

/** Deletes of one prefix scan have no order among themselves. */
function isOneScan(left: Write, right: Write): boolean {
  return (
    left.kind === "register" &&
    right.kind === "register" &&
    left.op === "delete" &&
    right.op === "delete" &&
    left.namespace === right.namespace
  );
}
