import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusals } from "../../fixtures/txlog/refusals.ts";
import { looseLines, sessions } from "../../fixtures/txlog/sessions.ts";
import { Story } from "../../fixtures/txlog/story.ts";
import { inspectTxlog } from "./inspect.ts";

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/txlog/${name}`, import.meta.url));

describe("a file that is accepted", () => {
  it.each(sessions.map(({ name, shows }) => [name, shows]))("reduces %s to its golden state: %s", (name) => {
    const expected: unknown = JSON.parse(fixture(`${name}.expected.json`).toString("utf8"));
    expect(inspectTxlog(fixture(`${name}.jsonl`))).toStrictEqual(expected);
  });

  it.each(sessions.map(({ name, story }) => [name, story] as const))(
    "is on disk as its story tells it: %s",
    (name, story) => {
      expect(fixture(`${name}.jsonl`).equals(story().bytes)).toBe(true);
    },
  );

  it("may have blanks, another order of keys, needless escapes and other forms of numbers", () => {
    const plain = inspectTxlog(new Story().run("inspect the / \u{1f600} project").bytes);
    const loose = inspectTxlog(looseLines());
    if (!plain.ok || !loose.ok) throw new Error("both are accepted");
    expect({ ...loose.state, repairedLength: 0 }).toStrictEqual({ ...plain.state, repairedLength: 0 });
  });

  it("opens as the reduce of its lines, whatever torn tail stands after them", () => {
    const whole = new Story().run().attempt();
    const tails = ['{"seq":1}', "x".repeat(9), "\u0000\u0000", "\r", "[", '{"a":1,"a":2}'];
    const bytes = [...tails.map((tail) => Buffer.from(tail)), Buffer.from([0xe2, 0x80]), Buffer.from([0xff])];
    for (const tail of bytes) {
      expect(inspectTxlog(Buffer.concat([whole.bytes, tail]))).toStrictEqual(inspectTxlog(whole.bytes));
    }
  });

  it("opens, cut at any byte, as the reduce of its complete lines", () => {
    fc.assert(
      fc.property(fc.constantFrom(...sessions), fc.nat(), ({ story }, place) => {
        const { bytes } = story();
        const cut = bytes.subarray(0, place % (bytes.length + 1));
        const lineFeed = cut.lastIndexOf(0x0a);
        const result = inspectTxlog(cut);
        if (lineFeed < 0) {
          expect(result).toStrictEqual({ ok: false, error: { code: "MISSING_HEADER", line: 1 } });
        } else {
          expect(result).toStrictEqual(inspectTxlog(cut.subarray(0, lineFeed + 1)));
          expect(result).toMatchObject({ ok: true, state: { repairedLength: lineFeed + 1 } });
        }
      }),
    );
  });
});

describe("a file that is refused", () => {
  it.each(refusals.map((refusal) => [refusal.rule, refusal] as const))("%s", (_rule, { bytes, refusal }) => {
    expect(inspectTxlog(bytes)).toStrictEqual({ ok: false, error: refusal });
  });

  it("is refused at the same place with a torn tail and with further lines", () => {
    for (const { bytes, refusal } of refusals) {
      if (bytes.length === 0 || bytes.at(-1) !== 0x0a) continue;
      const longer = Buffer.concat([bytes, Buffer.from('{"torn":')]);
      expect(inspectTxlog(longer)).toStrictEqual({ ok: false, error: refusal });
    }
  });

  it.each(["dropped", "doubled", "swapped"] as const)("has a complete line %s", (damage) => {
    for (const { story } of sessions) {
      const { lines } = story();
      for (let index = 1; index < lines.length - 1; index++) {
        const damaged = lines.slice();
        if (damage === "dropped") damaged.splice(index, 1);
        if (damage === "doubled") damaged.splice(index, 0, lines[index] ?? "");
        if (damage === "swapped") damaged.splice(index, 2, lines[index + 1] ?? "", lines[index] ?? "");
        expect(inspectTxlog(Buffer.from(`${damaged.join("\n")}\n`)).ok).toBe(false);
      }
    }
  });

  it("covers every code at least once", () => {
    const codes = new Set(refusals.map(({ refusal }) => refusal.code));
    expect([...codes].sort()).toEqual([
      "BLANK_LINE",
      "CRLF_NOT_ALLOWED",
      "DUPLICATE_ID",
      "EMPTY_TRANSACTION",
      "INVALID_FACT",
      "INVALID_HEADER",
      "INVALID_REFERENCE",
      "INVALID_TRANSCRIPT",
      "INVALID_TRANSITION",
      "INVALID_UTF8",
      "MALFORMED_JSON",
      "MISSING_HEADER",
      "SEQ_MISMATCH",
      "UNSUPPORTED_VERSION",
    ]);
  });
});

describe("the state", () => {
  it("shares nothing that changes with the file's further life", () => {
    const { bytes } = new Story().run();
    const first = inspectTxlog(bytes);
    const text = JSON.stringify(first);
    inspectTxlog(bytes);
    expect(JSON.stringify(first)).toBe(text);
  });
});
