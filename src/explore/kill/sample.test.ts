import { describe, expect, it } from "vitest";
import { type CutRef, cutRefName, parseCut } from "../../faults/index.ts";
import { seededRandom } from "../../foundation/index.ts";
import { sample } from "./sample.ts";

const cuts: { readonly cut: CutRef }[] = [];
for (let occurrence = 1; occurrence <= 20; occurrence++) {
  for (const position of ["before", "after"]) cuts.push(parse(`commit#${occurrence}:${position}`));
}
cuts.push(parse("commit#7:inside@4096"), parse("effect#1:inside"));

function parse(text: string): { readonly cut: CutRef } {
  const cut = parseCut(text);
  if (cut === undefined) throw new Error(text);
  return { cut };
}

const nameOf = ({ cut }: { readonly cut: CutRef }) => cutRefName(cut);

describe("a sample of cuts", () => {
  it("is the same for the same seed, and another for another", () => {
    const names = (seed: number) => sample(cuts, 8, seededRandom(seed)).map(nameOf);
    expect(names(1)).toEqual(names(1));
    expect(names(1)).not.toEqual(names(2));
  });

  it("has each cut once, as many as asked for, in the order of the run", () => {
    const chosen = sample(cuts, 12, seededRandom(3));
    expect(chosen).toHaveLength(12);
    expect(chosen).toEqual(cuts.filter((cut) => chosen.includes(cut)));
  });

  it("misses no kind of place, however rare", () => {
    for (let seed = 0; seed < 20; seed++) {
      const names = sample(cuts, 4, seededRandom(seed)).map(nameOf);
      expect(names).toContain("commit#7:inside@4096");
      expect(names).toContain("effect#1:inside");
    }
  });

  it("is all of them where there are no more", () => {
    expect(sample(cuts, 1000, seededRandom(1))).toEqual(cuts);
    expect(sample([], 3, seededRandom(1))).toEqual([]);
  });
});
