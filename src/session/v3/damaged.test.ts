import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Corruption } from "../../foundation/index.ts";
import { LegacyVersionUnknown, readV3 } from "./read.ts";
import { base, corruptionOf, file, fixture, HEADER, said, shapeOf } from "./test-support.ts";

describe("a damaged legacy file", () => {
  const bytes = fixture("v3-damaged");

  it("is read as its old reader read it, and every line that was passed over is named", () => {
    const { warnings } = readV3(bytes);
    expect(warnings.map(({ reason, line }) => `${line} ${reason}`)).toEqual([
      "1 byte_order_mark",
      "1 unparsable_line",
      "5 not_an_object",
      "6 value_mended",
      "7 not_utf8",
      "7 time_replaced",
      "8 unparsable_line",
      "9 missing_parent",
      "10 extra_header",
      "11 time_replaced",
      "12 first_kept_missing",
      "13 unparsable_line",
      "14 unparsable_line",
    ]);
    for (const { line, byteOffset } of warnings) {
      expect(bytes.subarray(0, byteOffset).toString("latin1").split("\n")).toHaveLength(line);
    }
  });

  it("keeps every other entry: a lost parent makes a root, a lost time takes one near it", () => {
    expect(shapeOf(bytes)).toEqual({
      d0000001: null,
      d0000002: "d0000001",
      d0000003: "d0000002",
      d0000006: null,
      d0000007: "d0000006",
      d0000008: "d0000007",
    });
    const { entries } = readV3(bytes).dump;
    expect(entries[1]).toMatchObject({ message: { content: "cut here: \ufffd" } });
    expect(entries[2]).toMatchObject({ timestamp: Date.UTC(2026, 1, 3, 10, 0, 3) - 5 });
    expect(entries[4]?.timestamp).toBe(entries[3]?.timestamp);
    expect(entries[5]).toMatchObject({ type: "compaction", retainedTail: [] });
  });

  it("keeps what a line separator of another kind stands in, and reads CRLF", () => {
    const line = JSON.stringify(said("a", null, 1, "x\u2028y"));
    const text = `${JSON.stringify(HEADER)}\r\n${line}\r\n`;
    const { dump, warnings } = readV3(Buffer.from(text));
    expect(dump.entries[0]).toMatchObject({ message: { content: "x\u2028y" } });
    expect(warnings).toEqual([]);
  });

  it("gives, cut anywhere, the entries of the whole lines before it, or no session without the header", () => {
    const whole = fixture("v3-application");
    const { dump } = readV3(whole);
    let entryCount = 0;
    for (let length = 1; length <= whole.length; length += 41) {
      const cut = whole.subarray(0, length);
      if (!cut.includes("\n") && length < whole.indexOf("\n")) {
        expect(corruptionOf(cut).reason).toBe("no_header");
        continue;
      }
      const { entries } = readV3(cut).dump;
      expect(entries.length).toBeGreaterThanOrEqual(entryCount);
      expect(entries.map(({ id }) => id)).toEqual(dump.entries.slice(0, entries.length).map(({ id }) => id));
      entryCount = entries.length;
    }
  });

  const refusals: [string, (object | string)[], { reason: string; line: number; message?: RegExp }][] = [
    [
      "no header first",
      [said("a", null, 1), HEADER],
      { reason: "no_header", line: 1, message: /first object/ },
    ],
    ["a header without an id", ["", { ...HEADER, id: "" }], { reason: "no_header", line: 2 }],
    ["a header of format 4", [{ v: 4, kind: "header", id: "s" }], { reason: "no_header", line: 1 }],
    ["no object at all", ["1", "x"], { reason: "no_header", line: 1 }],
    ["a working folder that is no text", [{ ...HEADER, cwd: 1 }], { reason: "bad_header", line: 1 }],
    ["a parent path that is no text", [{ ...HEADER, parentSession: {} }], { reason: "bad_header", line: 1 }],
    ["an id twice", [HEADER, said("a", null, 1), said("a", null, 2)], { reason: "duplicate_id", line: 3 }],
    ["its own parent", [HEADER, said("a", "a", 1)], { reason: "self_parent", line: 2 }],
    [
      "a parent that comes later",
      [HEADER, said("a", "b", 1), said("b", null, 2)],
      { reason: "parent_later", line: 2 },
    ],
    ["a cycle", [HEADER, said("a", "b", 1), said("b", "a", 2)], { reason: "parent_later", line: 2 }],
    ["no id", [HEADER, { ...said("a", null, 1), id: 7 }], { reason: "malformed_entry", line: 2 }],
    ["no type", [HEADER, { ...said("a", null, 1), type: null }], { reason: "malformed_entry", line: 2 }],
    [
      "a parent id that is no text",
      [HEADER, { ...said("a", null, 1), parentId: 7 }],
      { reason: "malformed_entry", line: 2 },
    ],
    [
      "a label without a target",
      [HEADER, { ...base("label", "a", null, 1), label: "x" }],
      { reason: "malformed_entry", line: 2 },
    ],
    [
      "a name that is no text",
      [HEADER, { ...base("session_info", "a", null, 1), name: 1 }],
      { reason: "malformed_entry", line: 2 },
    ],
    [
      "a message without a role",
      [HEADER, { ...said("a", null, 1), message: {} }],
      { reason: "invalid_entry", line: 2, message: /entry a/ },
    ],
    [
      "a message of an unknown role",
      [HEADER, { ...said("a", null, 1), message: { role: "oracle", timestamp: 1 } }],
      { reason: "invalid_entry", line: 2, message: /role/ },
    ],
    ["no message", [HEADER, base("message", "a", null, 1)], { reason: "invalid_entry", line: 2 }],
    [
      "a summary that is no text",
      [HEADER, { ...base("compaction", "a", null, 1), summary: 1, tokensBefore: 1 }],
      { reason: "invalid_entry", line: 2 },
    ],
    [
      "a tail that is no list",
      [HEADER, { ...base("compaction", "a", null, 1), summary: "", tokensBefore: 1, retainedTail: {} }],
      { reason: "invalid_entry", line: 2 },
    ],
    [
      "a custom entry without a type",
      [HEADER, base("custom", "a", null, 1)],
      { reason: "invalid_entry", line: 2 },
    ],
    [
      "a number beyond the range",
      [
        HEADER,
        JSON.stringify({ ...base("custom", "a", null, 1), customType: "n", data: "#" }).replace(
          '"#"',
          "1e999",
        ),
      ],
      { reason: "outside_json_domain", line: 2 },
    ],
  ];

  it.each(refusals)("is refused for %s, with the place", (_name, lines, { reason, line, message }) => {
    const bytes = file(...lines);
    const corruption = corruptionOf(bytes);
    expect(corruption.reason).toBe(reason);
    expect(corruption.place).toMatchObject({ file: "old.jsonl", line });
    expect(bytes.subarray(0, corruption.place.byteOffset).toString("latin1").split("\n")).toHaveLength(line);
    expect(corruption.message).toContain("nothing was changed");
    if (message !== undefined) expect(corruption.message).toMatch(message);
  });

  it("of zero bytes is refused, and a header alone is an empty session", () => {
    expect(corruptionOf(Buffer.alloc(0))).toMatchObject({ reason: "empty_file" });
    const { dump } = readV3(file(HEADER));
    expect(dump.entries).toEqual([]);
    expect(dump.registers.map(({ seq, value }) => [seq, value])).toEqual([
      [1, null],
      [2, { currentOperationId: null, pendingNextRun: [] }],
    ]);
  });

  it("ends in a session or in a named refusal, whatever the bytes", () => {
    const whole = fixture("v3-application");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
        (changes) => {
          const bytes = Buffer.from(whole);
          for (const [position, byte] of changes) bytes[position] = byte;
          try {
            const { dump } = readV3(bytes);
            expect(new Set(dump.entries.map(({ id }) => id)).size).toBe(dump.entries.length);
          } catch (error) {
            if (!(error instanceof LegacyVersionUnknown)) expect(error).toBeInstanceOf(Corruption);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
