import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { committedRegion } from "./framing.ts";
import { DEPTH_MAX, readStrictJson } from "./strict-json.ts";

/** Reads one line as the reducer does. */
function read(text: string): unknown {
  const region = committedRegion(Buffer.from(`${text}\n`, "utf8"));
  if (!region.ok) return region.error.code;
  const result = readStrictJson(text, region.value.escapesSurrogates);
  return result.ok ? { value: result.value } : result.error;
}

/**
 * A second reader, written for clearness: walks the text token by token and keeps the keys of each object. It is told
 * that the text is grammatical.
 */
function hasKeyTwice(text: string): boolean {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  const objects: (Set<string> | undefined)[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token === "{") objects.push(new Set());
    if (token === "[") objects.push(undefined);
    if (token === "}" || token === "]") objects.pop();
    if (tokens[index + 1] !== ":" || !token.startsWith('"')) continue;
    const key = JSON.parse(token) as string;
    if (objects.at(-1)?.has(key)) return true;
    objects.at(-1)?.add(key);
  }
  return false;
}

/** Texts of JSON in every spelling: blanks, escapes, number forms, and keys that may come twice. */
const { text: anyText } = fc.letrec<{ text: string; string: string; object: string; array: string }>(
  (tie) => {
    const blank = fc.constantFrom("", "", "", " ", "\t", "\r");
    const character = fc.constantFrom(
      "a",
      "b",
      "\\u0061",
      '\\"',
      "\\\\",
      ":",
      ",",
      "{",
      "\\n",
      "é",
      "\\u00e9",
      "😀",
      "\\ud83d\\ude00",
    );
    const string = fc.array(character, { maxLength: 3 }).map((parts) => `"${parts.join("")}"`);
    const long = fc.array(character, { minLength: 60, maxLength: 130 }).map((parts) => `"${parts.join("")}"`);
    const number = fc.constantFrom(
      "0",
      "1",
      "10",
      "1000",
      "1e3",
      "12000",
      "1.2e4",
      "-1",
      "-0",
      "0.5",
      "1E400",
      "9007199254740993",
    );
    const member = fc
      .tuple(string, blank, blank, tie("text"))
      .map(([key, before, after, value]) => `${key}${before}:${after}${value}`);
    const list = (open: string, close: string, item: fc.Arbitrary<string>) =>
      fc
        .tuple(fc.array(item, { maxLength: 4 }), blank)
        .map(([items, gap]) => `${open}${gap}${items.join(`,${gap}`)}${gap}${close}`);
    return {
      string,
      object: list("{", "}", member),
      array: list("[", "]", tie("text")),
      text: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        string,
        long,
        number,
        fc.constantFrom("true", "false", "null"),
        tie("array"),
        tie("object"),
        tie("object"),
      ),
    };
  },
);

describe("strict JSON", () => {
  it("accepts exactly the texts that the host parses and in which no object has a key twice", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(read(text)).toEqual(hasKeyTwice(text) ? "MALFORMED_JSON" : { value: JSON.parse(text) });
      }),
      { numRuns: 2_000 },
    );
  });

  it("accepts what a compact writer writes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(read(text)).toEqual({ value: JSON.parse(text) });
      }),
    );
  });

  it.each([
    ["a number that is written short by just as much", '{"n":1e8,"a":1,"a":1}'],
    ["a key twice beside numbers with exponents", `{"a":0,"a":0,"n":[${Array(9).fill("1e3").join(",")}]}`],
    ["keys that the host orders by number", '{"2":0,"1":0,"2":0}'],
    ["a key that ends with a backslash", '{"\\\\":0,"\\\\":0}'],
    ["a key that ends with a quote", '{"\\"":0,"\\"":0}'],
    ["a colon in a key", '{":":0,":":0}'],
    ["a key in different escapes", '{"\\n":0,"\\u000a":0}'],
    ["a key that is empty", '{"":0,"":0}'],
    ["a key after a long text", `{"a":"${"x\\\\".repeat(200)}","a":0}`],
    ["a key after a long text that ends in an escape", `{"a":"${"x".repeat(200)}\\\\\\"","a":0}`],
  ])("refuses a key twice: %s", (_name, text) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(read(text)).toBe("MALFORMED_JSON");
  });

  it.each([
    ["an escaped pair", '"\\ud83d\\ude00"'],
    ["an escaped pair in capitals", '"\\uD83D\\uDE00"'],
    ["an escaped backslash before ud", '"\\\\ud800"'],
    ["escaped NUL", '"\\u0000"'],
    ["separators of Unicode", '"\u2028\u2029\u0085\ufeff"'],
    ["__proto__ once", '{"__proto__":{"a":1}}'],
    ["a quote after a long text", `{"a":"${"x".repeat(200)}\\\\\\"","b":0}`],
  ])("accepts %s", (_name, text) => {
    expect(read(text)).toEqual({ value: JSON.parse(text) });
  });

  it.each([
    ["alone", '"\\ud800"'],
    ["low before high", '"\\udc00\\ud800"'],
    ["before a character", '"\\ud800x"'],
    ["in a key of the depth", '[{"a":{"\\uDFFF":1}}]'],
    ["after an escaped pair", '["\\ud83d\\ude00","\\ude00"]'],
  ])("refuses a surrogate %s", (_name, text) => {
    expect(read(text)).toBe("MALFORMED_JSON");
  });

  it("reads nesting up to its limit and refuses deeper, however the text is written", () => {
    const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);
    expect(read(nested(DEPTH_MAX, "[", "]"))).toHaveProperty("value");
    expect(read(nested(DEPTH_MAX + 1, "[", "]"))).toBe("MALFORMED_JSON");
    expect(read(nested(DEPTH_MAX + 1, "[ ", "]"))).toBe("MALFORMED_JSON");
    expect(read(`${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`)).toBe("MALFORMED_JSON");
  });
});
