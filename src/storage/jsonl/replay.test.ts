import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Corruption } from "../../foundation/index.ts";
import { zeroUsage } from "../../model/index.ts";
import { dumpOf } from "../queries.ts";
import { encodeHeader, encodeTransaction, type JsonlCorruptionReason } from "./codec.ts";
import { type Replayed, replay } from "./replay.ts";
import { factOf, METADATA, messageOf, settlementOf } from "./test-support.ts";

const HEADER = encodeHeader(METADATA);
const LEAF = encodeTransaction(factOf("first", "1").writes, 1, 1_000).line;
const ENTRY = encodeTransaction(messageOf("e_1", null).writes, 2, 1_000).line;
const SETTLED = encodeTransaction(settlementOf("e_2", "e_1", "two").writes, 3, 1_005).line;
const LAST = encodeTransaction(factOf("last", "2").writes, 7, 1_006).line;
const FILE = HEADER + LEAF + ENTRY + SETTLED + LAST;

const dumpOfReplayed = ({ tables, header }: Replayed) => dumpOf(tables, header.metadata);
const dumpOfText = (text: string | Buffer) => dumpOfReplayed(replay(Buffer.from(text as string)));

function corruptionOf(content: string | Buffer): Corruption {
  try {
    replay(Buffer.from(content as string), "s.jsonl");
  } catch (error) {
    if (error instanceof Corruption) return error;
    throw error;
  }
  throw new Error("was read as a session");
}

function bytesWith(line: string, at: number, byte: number): Buffer {
  const bytes = Buffer.from(HEADER + LEAF + line + LAST);
  bytes[Buffer.byteLength(HEADER + LEAF) + at] = byte;
  return bytes;
}

/** A line in the place of the third one, which is followed by whole, valid lines. */
const third = (line: string) => `${HEADER + LEAF + line}\n${LAST}`;
const entry = (fields: object) =>
  JSON.stringify({
    kind: "entry",
    seq: 2,
    timestamp: 1_000,
    id: "e_9",
    parentId: null,
    type: "compaction",
    ...fields,
  });
const usage = (fields: object) =>
  JSON.stringify({ kind: "usage", seq: 2, id: "u_9", usage: zeroUsage(), adjustment: false, ...fields });
const MOST = { ...zeroUsage(), output: Number.MAX_VALUE };
const set = (fields: object) =>
  JSON.stringify({
    kind: "register",
    op: "set",
    seq: 2,
    namespace: "fact.custom",
    key: "k",
    value: 1,
    ...fields,
  });

const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as unknown;

describe("replay", () => {
  it("reads every line of a file in its order", () => {
    const { tables, tornTail, committedBytes } = replay(Buffer.from(FILE));
    expect([tables.nextSeq, tables.newestEntryTimestamp, tables.messageCount]).toEqual([8, 1_005, 2]);
    expect([tornTail, committedBytes]).toEqual([undefined, Buffer.byteLength(FILE)]);
    expect(dumpOfText(FILE).registers.map(({ key, seq }) => [key, seq])).toEqual([
      ["first", 1],
      ["last", 7],
      ["main", 5],
    ]);
  });

  it("accepts gaps between seqs, as a rewritten file has them", () => {
    expect(dumpOfText(third(entry({ seq: 5 }))).entries.map((row) => row.seq)).toEqual([5]);
  });

  it("keeps U+2028, U+2029, escaped CR and any other text as data", () => {
    const text = "a\u2028b\u2029c\r\n\u0000\ufeff\u{1f600}d";
    const file = HEADER + encodeTransaction(messageOf("e_1", null, text).writes, 1, 1_000).line + LAST;
    expect(dumpOfText(file).entries).toMatchObject([{ message: { content: text } }]);
  });

  it("reads lines of any length, over the bounds of its chunks", () => {
    const long = (id: string, parentId: string | null, size: number) =>
      messageOf(id, parentId, "é".repeat(size));
    const lines = [20_000, 40_000, 1, 70_000, 32_700].map((size, index) => {
      const transaction = long(`e_${index}`, index === 0 ? null : `e_${index - 1}`, size);
      return encodeTransaction(transaction.writes, index + 1, 1_000).line;
    });
    expect(dumpOfText(HEADER + lines.join("")).entries).toHaveLength(5);
  });

  it.each<[JsonlCorruptionReason, string, string | Buffer, number]>([
    ["no_header", "an empty file", "", 1],
    ["no_header", "a header without its LF", HEADER.slice(0, -1), 1],
    ["bad_header", "a first line that is a write", LEAF + ENTRY, 1],
    ["bad_header", "a first line that is an array", `[${HEADER.trim()}]\n${LEAF}`, 1],
    ["bad_header", "a file of an older format", '{"type":"session","version":3,"id":"s"}\n', 1],
    ["bad_header", "a header of a newer format", `${HEADER.replace('"v":4', '"v":5')}`, 1],
    ["bad_header", "a header without an id", HEADER.replace("s_1", ""), 1],
    ["bad_header", "a header with a text for a time", HEADER.replace("1000", '"now"'), 1],
    ["not_json", "a header that is cut inside", `${HEADER.slice(0, 20)}\n`, 1],
    ["outside_json_domain", "a header with -0", HEADER.replace("}", ',"x":-0}'), 1],
    ["byte_order_mark", "a byte order mark", `\ufeff${FILE}`, 1],
    ["not_utf8", "a byte that starts nothing", bytesWith(ENTRY, 30, 0xff), 3],
    ["not_utf8", "a code point that is cut", bytesWith(ENTRY, 30, 0xc3), 3],
    [
      "not_utf8",
      "a surrogate in UTF-8",
      Buffer.concat([Buffer.from(HEADER), Buffer.from([0xed, 0xa0, 0x80, 0x0a])]),
      2,
    ],
    ["carriage_return", "lines that end in CR LF", FILE.replaceAll("\n", "\r\n"), 1],
    ["carriage_return", "a CR between tokens", third(entry({}).replace(",", ",\r")), 3],
    ["carriage_return", "a CR in a string", third(entry({ summary: "x" }).replace("x", "\r")), 3],
    ["carriage_return", "CR in the place of LF", `${HEADER}${LEAF.replace("\n", "\r")}${ENTRY}`, 2],
    ["not_json", "an empty line", third(""), 3],
    ["not_json", "a line that is cut inside", third(entry({}).slice(0, -3)), 3],
    ["not_json", "two fused lines", third(entry({}) + set({ seq: 3 })), 3],
    ["not_json", "zero bytes", third("\u0000\u0000\u0000"), 3],
    ["not_json", "U+2028 between tokens", third(entry({}).replace(",", ",\u2028")), 3],
    ["not_json", "a last line with its LF that is cut inside", `${HEADER}${LEAF}${LAST.slice(0, -5)}\n`, 3],
    ["outside_json_domain", "a number that overflows", third(set({ value: "N" }).replace('"N"', "1e999")), 3],
    ["outside_json_domain", "-0", third(set({ value: "N" }).replace('"N"', "[-0]")), 3],
    [
      "outside_json_domain",
      "an escaped lone surrogate",
      third(set({ value: "N" }).replace("N", "\\ud800")),
      3,
    ],
    ["outside_json_domain", "a value that no writer nests so deep", third(set({ value: nested(600) })), 3],
    [
      "outside_json_domain",
      "a value without a bottom",
      third(set({ value: 0 }).replace("0}", `${"[".repeat(200_000)}${"]".repeat(200_000)}}`)),
      3,
    ],
    [
      "outside_json_domain",
      "a header without a bottom",
      HEADER.replace("}", `,"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`),
      1,
    ],
    ["empty_transaction", "an empty array", third("[]"), 3],
    ["malformed_write", "a number", third("7"), 3],
    ["malformed_write", "an array in an array", third(`[[${entry({})}]]`), 3],
    ["malformed_write", "a second header", HEADER + HEADER, 2],
    ["malformed_write", "an unknown kind", third(entry({ kind: "note" })), 3],
    ["malformed_write", "seq 0", third(entry({ seq: 0 })), 3],
    ["malformed_write", "a seq with a fraction", third(entry({ seq: 2.5 })), 3],
    ["malformed_write", "a seq that is a text", third(entry({ seq: "2" })), 3],
    ["malformed_write", "an entry without a time", third(entry({ timestamp: undefined })), 3],
    ["malformed_write", "an entry with a negative time", third(entry({ timestamp: -1 })), 3],
    ["malformed_write", "an entry without an id", third(entry({ id: undefined })), 3],
    ["malformed_write", "an entry without a parent", third(entry({ parentId: undefined })), 3],
    ["malformed_write", "an entry of an unknown type", third(entry({ type: "note" })), 3],
    ["malformed_write", "a custom entry without customType", third(entry({ type: "custom" })), 3],
    ["malformed_write", "a compaction with customType", third(entry({ customType: "c" })), 3],
    ["malformed_write", "a usage row without amounts", third(usage({ usage: {} })), 3],
    ["malformed_write", "a usage row without a flag", third(usage({ adjustment: undefined })), 3],
    ["malformed_write", "a usage row with a key too many", third(usage({ timestamp: 1 })), 3],
    ["malformed_write", "a register of an unknown namespace", third(set({ namespace: "lane.color" })), 3],
    ["malformed_write", "a register with an unknown op", third(set({ op: "merge" })), 3],
    ["malformed_write", "a set without a value", third(set({ value: undefined })), 3],
    ["malformed_write", "a set with a key too many", third(set({ timestamp: 1 })), 3],
    ["malformed_write", "a delete with a value", third(set({ op: "delete" })), 3],
    ["seq_not_rising", "a line again", HEADER + LEAF + ENTRY + ENTRY, 4],
    ["seq_not_rising", "the same seq", third(entry({ seq: 1 })), 3],
    ["seq_not_rising", "a seq that stands still in a transaction", third(`[${entry({})},${set({})}]`), 3],
    [
      "timestamp_falls",
      "an entry behind an earlier one",
      FILE.replace('"timestamp":1005', '"timestamp":999'),
      4,
    ],
    [
      "timestamp_differs",
      "two times in a transaction",
      third(`[${entry({})},${entry({ seq: 3, id: "x", timestamp: 1_001 })}]`),
      3,
    ],
    ["duplicate_id", "an entry id again", third(`[${entry({})},${entry({ seq: 3 })}]`), 3],
    [
      "duplicate_id",
      "an entry id for a usage row",
      `${HEADER + LEAF + ENTRY + usage({ seq: 9, id: "e_1" })}\n`,
      4,
    ],
    ["duplicate_id", "a usage id for an entry", third(`[${usage({})},${entry({ seq: 3, id: "u_9" })}]`), 3],
    [
      "sum_too_large",
      "a sum that no number holds",
      third(`[${usage({ usage: MOST })},${usage({ seq: 3, id: "u_10", usage: MOST })}]`),
      3,
    ],
    ["missing_parent", "a parent that is nowhere", third(entry({ parentId: "e_0" })), 3],
    [
      "missing_parent",
      "a parent that comes later",
      third(`[${entry({ parentId: "e_8" })},${entry({ seq: 3, id: "e_8" })}]`),
      3,
    ],
    ["missing_parent", "an entry as its own parent", third(entry({ parentId: "e_9" })), 3],
    [
      "missing_parent",
      "a usage row as a parent",
      third(`[${usage({})},${entry({ seq: 3, parentId: "u_9" })}]`),
      3,
    ],
  ])("refuses as %s: %s", (reason, _what, content, line) => {
    const { place, ...corruption } = corruptionOf(content);
    const bytes = Buffer.from(content as string);
    let byteOffset = 0;
    for (let each = 1; each < line; each++) byteOffset = bytes.indexOf(0x0a, byteOffset) + 1;
    expect(corruption.reason).toBe(reason);
    expect(place).toEqual({ file: "s.jsonl", line, byteOffset });
  });

  it("reports the first damage, also when a later line is no UTF-8", () => {
    const bytes = Buffer.concat([Buffer.from(third(entry({ seq: 1 }))), Buffer.from([0xff, 0x0a])]);
    expect(corruptionOf(bytes)).toMatchObject({ reason: "seq_not_rising", place: { line: 3 } });
  });

  it("ends in a session or in a corruption with a place, whatever the bytes", () => {
    const junk = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom("\n", "[]\n", "{}", "]", ",", LEAF, ENTRY, "null\n").map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.nat(FILE.length), fc.nat(12), junk, (at, removed, inserted) => {
        const bytes = Buffer.from(FILE);
        const damaged = Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
        try {
          replay(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(Corruption);
          expect((error as Corruption).place.line).toBeGreaterThan(0);
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe("a torn tail", () => {
  it.each([
    ["of one write", encodeTransaction(factOf("torn", "x").writes, 7, 1_006).line],
    ["of several writes", encodeTransaction(settlementOf("e_3", "e_2", "x").writes, 7, 1_006).line],
    [
      "with long code points",
      encodeTransaction(messageOf("e_3", "e_2", "é\u2028\u{1f600}").writes, 7, 1_006).line,
    ],
  ])("%s is dropped whole at every byte, until its LF is there", (_what, line) => {
    const whole = Buffer.from(HEADER + LEAF + ENTRY + SETTLED);
    const before = dumpOfText(whole);
    const bytes = Buffer.from(line);
    for (let byteLength = 1; byteLength < bytes.length; byteLength++) {
      const replayed = replay(Buffer.concat([whole, bytes.subarray(0, byteLength)]));
      expect(dumpOfReplayed(replayed)).toEqual(before);
      expect(replayed.tornTail).toEqual({ byteOffset: whole.length, byteLength });
      expect(replayed.committedBytes).toBe(whole.length);
    }
    expect(dumpOfText(Buffer.concat([whole, bytes]))).not.toEqual(before);
  });

  it.each([
    ["zero bytes", Buffer.alloc(64)],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe, 0xc3])],
    ["CR", Buffer.from("\r")],
    ["a whole line whose LF is missing", Buffer.from(LAST.slice(0, -1))],
  ])("is dropped when it is %s", (_what, tail) => {
    const whole = Buffer.from(HEADER + LEAF);
    expect(dumpOfText(Buffer.concat([whole, tail]))).toEqual(dumpOfText(whole));
  });
});
