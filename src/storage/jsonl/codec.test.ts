import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { zeroUsage } from "../../model/index.ts";
import { MemoryFiles } from "../files/memory-files.ts";
import type { StoredWrite } from "../stored-write.ts";
import { decodeHeader, decodeLine, encodeHeader, encodeTransaction, LineRefusal } from "./codec.ts";
import { createJsonlFile } from "./creation.ts";
import { METADATA, messageOf, settlementOf } from "./test-support.ts";

const rowsOf = (writes: readonly StoredWrite[]) =>
  writes.map((write) => (write.kind === "delete" ? { ...write } : write.row));

describe("the lines of format 4", () => {
  it("are a header that carries the metadata", () => {
    expect(encodeHeader({ ...METADATA, cwd: "/work" })).toBe(
      '{"v":4,"kind":"header","id":"s_1","createdAt":1000,"storageVersion":1,"cwd":"/work"}\n',
    );
  });

  it("are an object for a transaction of one write", () => {
    expect(encodeTransaction(messageOf("e_1", null, "a\u2028b").writes, 7, 2_000).line).toBe(
      '{"kind":"entry","seq":7,"timestamp":2000,"type":"message","id":"e_1","parentId":null,' +
        '"message":{"role":"user","content":"a\u2028b","timestamp":1}}\n',
    );
  });

  it("are an array for a transaction of several writes, in their order", () => {
    const usage = JSON.stringify(zeroUsage());
    expect(encodeTransaction(settlementOf("e_2", "e_1", "x").writes, 8, 2_001).line).toBe(
      '[{"kind":"entry","seq":8,"timestamp":2001,"type":"message","id":"e_2","parentId":"e_1",' +
        '"message":{"role":"user","content":"x","timestamp":1}},' +
        `{"kind":"usage","seq":9,"id":"u_e_2","usage":${usage},"entryId":"e_2","adjustment":false},` +
        '{"kind":"register","op":"set","seq":10,"namespace":"lane.leaf","key":"main","value":"e_2"},' +
        '{"kind":"register","op":"delete","seq":11,"namespace":"fact.label","key":"gone"}]\n',
    );
  });

  it("decode to the rows that were encoded", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 4 }),
        fc.jsonValue({ stringUnit: "binary" }).map((value) => JSON.parse(JSON.stringify(value)) as never),
        (keys, value) => {
          const writes = keys.map((key) => ({
            kind: "register" as const,
            op: "set" as const,
            namespace: "fact.custom" as const,
            key,
            value,
          }));
          const { line, stored } = encodeTransaction(writes, 1, 5);
          expect(line.indexOf("\n")).toBe(line.length - 1);
          expect(rowsOf(decodeLine(line.slice(0, -1)))).toEqual(rowsOf(stored));
          expect(rowsOf(stored)).toEqual(
            writes.map(({ namespace, key }, index) => ({ namespace, key, value, seq: index + 1 })),
          );
        },
      ),
    );
  });

  it("keep metadata that this program does not know", () => {
    const metadata = { ...METADATA, storeGeneration: 3 };
    expect(decodeHeader(encodeHeader(metadata))).toEqual({ metadata, timesKeptThroughSeq: 0 });
  });

  it("say in the header how far times were taken from elsewhere, apart from the metadata", () => {
    const text = encodeHeader(METADATA, 12);
    expect(decodeHeader(text)).toEqual({ metadata: METADATA, timesKeptThroughSeq: 12 });
    expect(() => decodeHeader(text.replace("12", "-1"))).toThrow(LineRefusal);
  });

  it.each(["v", "kind", "timesKeptThroughSeq"])(
    "have a name of their own, which metadata cannot use: %s",
    (name) => {
      const metadata = { ...METADATA, [name]: 7 };
      for (const contents of [undefined, { entries: [], registers: [], usage: [] }]) {
        expect(() => createJsonlFile("s.jsonl", metadata, new MemoryFiles(), contents)).toThrow(TypeError);
      }
    },
  );
});

describe("values outside the JSON domain", () => {
  const set = (value: string) =>
    `{"kind":"register","op":"set","seq":1,"namespace":"fact.custom","key":"k","value":${value}}`;
  const reasonOf = (line: string): string | undefined => {
    try {
      decodeLine(line);
    } catch (error) {
      if (error instanceof LineRefusal) return error.reason;
      throw error;
    }
    return undefined;
  };

  it.each([
    ["1e999"],
    ["-1E+999"],
    ["-0"],
    ["-0.0"],
    ["-0e5"],
    ["-1e-999"],
    [`-0.${"0".repeat(400)}1`],
    ["9".repeat(400)],
    ['"\\ud800"'],
    ['"\\uDC00x"'],
    ['{"\\ud83dx":1}'],
  ])("are refused wherever they stand: %s", (value) => {
    for (const holder of [
      value,
      `{"a":${value}}`,
      `[1,${value}]`,
      `{"a":[ ${value} ]}`,
      `{"__proto__":${value}}`,
    ]) {
      expect(reasonOf(set(holder))).toBe("outside_json_domain");
    }
  });

  it("are not found where they only look so", () => {
    const values = [
      "-0.5",
      "1e-999",
      "1e308",
      "5e-324",
      '"\\ud83d\\ude00"',
      '"-0 1e999 \\\\ud800"',
      "[0,-1]",
    ];
    for (const value of values) expect(reasonOf(set(value))).toBeUndefined();
  });
});
