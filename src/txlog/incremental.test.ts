/**
 * Trying a transaction on a reduction decides as a full re-read of the longer file does, and leaves the reduction as it was
 * or as that re-read makes it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusals } from "../../fixtures/txlog/refusals.ts";
import { sessions } from "../../fixtures/txlog/sessions.ts";
import { type Reduction, reduce } from "./reduction.ts";

function read(text: string): Reduction {
  const result = reduce(Buffer.from(text, "utf8"));
  if (!result.ok) throw new Error(`refused: ${result.error.code} in line ${result.error.line}`);
  return result.value;
}

/** All that a reduction knows and shows. */
function knowledge(reduction: Reduction): unknown {
  const { state, sources, ...rest } = reduction.live();
  return structuredClone({ ...rest, state, sources: sources(), nextSeq: reduction.nextSeq });
}

const stories = sessions.map(({ story }) => story().lines);
const allLines = stories.flat();

/** A line that was written for some other place, with a `seq` that fits here or not. */
function aimed(line: string, nextSeq: number, isNumbered: boolean): string {
  if (!isNumbered) return line;
  const value = JSON.parse(line) as { seq: number } | { seq: number }[];
  const facts = (Array.isArray(value) ? value : [value]).map((fact, index) => ({
    ...fact,
    seq: nextSeq + index,
  }));
  return JSON.stringify(Array.isArray(value) ? facts : facts[0]);
}

/** Tries a line both ways and compares; returns the text of the file after it. */
function tryBothWays(reduction: Reduction, text: string, line: string, isWritten: boolean): string {
  const longer = `${text}${line}\n`;
  const before = knowledge(reduction);
  const full = reduce(Buffer.from(longer, "utf8"));
  const refusal = reduction.attempt(Buffer.from(`${line}\n`, "utf8"));
  expect(refusal).toEqual(full.ok ? undefined : full.error);
  if (!full.ok) {
    expect(knowledge(reduction)).toEqual(before);
    return text;
  }
  if (isWritten) {
    reduction.keep();
    expect(knowledge(reduction)).toEqual(knowledge(full.value));
    return longer;
  }
  reduction.takeBack();
  expect(knowledge(reduction)).toEqual(before);
  return text;
}

describe("a transaction that is tried", () => {
  it("decides as a full re-read for every line of every story, whether the write then succeeds or fails", () => {
    for (const lines of stories) {
      let text = `${lines[0]}\n`;
      const reduction = read(text);
      for (const line of lines.slice(1)) {
        text = tryBothWays(reduction, text, line, false);
        text = tryBothWays(reduction, text, line, true);
      }
    }
  });

  it("decides as a full re-read for lines that were meant for other places", () => {
    const step = fc.record({ line: fc.nat(), isNumbered: fc.boolean(), isWritten: fc.boolean() });
    fc.assert(
      fc.property(
        fc.constantFrom(...stories),
        fc.nat(),
        fc.array(step, { maxLength: 12 }),
        (lines, place, steps) => {
          const kept = lines.slice(0, 1 + (place % lines.length));
          let text = `${kept.join("\n")}\n`;
          const reduction = read(text);
          for (const { line, isNumbered, isWritten } of steps) {
            const other = allLines[line % allLines.length] ?? "";
            text = tryBothWays(reduction, text, aimed(other, reduction.nextSeq, isNumbered), isWritten);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is refused as in a full read, with everything taken back, for every refusal", () => {
    let tried = 0;
    for (const { bytes, refusal } of refusals) {
      if (refusal.line === 1 || bytes.at(-1) !== 0x0a) continue;
      const text = bytes.toString("utf8");
      if (!Buffer.from(text, "utf8").equals(bytes)) continue;
      const start = text.lastIndexOf("\n", text.length - 2) + 1;
      if (!reduce(Buffer.from(text.slice(0, start))).ok) continue;
      tryBothWays(read(text.slice(0, start)), text.slice(0, start), text.slice(start, -1), false);
      tried += 1;
    }
    expect(tried).toBeGreaterThan(200);
  });
});
