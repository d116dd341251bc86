import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Corruption, canonicalJson, isUuidV7, seededRandom, timestampOf } from "../../foundation/index.ts";
import { type CompactionEntry, type Entry, zeroUsage } from "../../model/index.ts";
import { LegacyVersionUnknown, readV3 } from "./read.ts";
import { recognise } from "./recognise.ts";

const fixture = (name: string) =>
  readFileSync(new URL(`../../../fixtures/sessions/${name}.jsonl`, import.meta.url));

/** A file of these lines; a string is a line as it stands. */
const file = (...lines: (object | string)[]) =>
  Buffer.from(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));

const HEADER = { type: "session", version: 3, id: "s", timestamp: "2026-01-05T09:00:00.000Z", cwd: "/p" };
const T0 = Date.UTC(2026, 0, 5, 9);
const at = (seconds: number) => new Date(T0 + seconds * 1000).toISOString();
const base = (type: string, id: string, parentId: string | null, seconds: number) => ({
  type,
  id,
  parentId,
  timestamp: at(seconds),
});
const said = (id: string, parentId: string | null, seconds: number, content: unknown = id) => ({
  ...base("message", id, parentId, seconds),
  message: { role: "user", content, timestamp: T0 + seconds * 1000 },
});

const corruptionOf = (bytes: Uint8Array): Corruption => {
  try {
    readV3(bytes, "old.jsonl");
  } catch (error) {
    if (error instanceof Corruption) return error;
    throw error;
  }
  throw new Error("the file was read");
};

const registersOf = (bytes: Uint8Array) =>
  Object.fromEntries(
    readV3(bytes).dump.registers.map(({ namespace, key, value }) => [`${namespace}/${key}`, value]),
  );

/** Who follows whom, by legacy ids. */
function shapeOf(bytes: Uint8Array): Record<string, string | null> {
  const { dump, idOf } = readV3(bytes);
  const legacy = new Map([...idOf].map(([old, id]) => [id, old]));
  return Object.fromEntries(
    dump.entries.map(({ id, parentId }) => [
      legacy.get(id) ?? id,
      parentId === null ? null : (legacy.get(parentId) ?? parentId),
    ]),
  );
}

const tailTexts = (entry: Entry | undefined) =>
  (entry as CompactionEntry).retainedTail.map((message) => {
    const { role, content, summary } = message as { role: string; content?: unknown; summary?: string };
    return `${role}: ${summary ?? (typeof content === "string" ? content : JSON.stringify(content))}`;
  });

describe("a session as the application wrote it", () => {
  const bytes = fixture("v3-application");
  const { dump, idOf, warnings } = readV3(bytes, "old.jsonl");
  const entry = (legacyId: string) => dump.entries.find(({ id }) => id === idOf.get(legacyId));

  it("keeps messages, compactions, summaries and custom entries, under their nearest kept ancestors", () => {
    expect(shapeOf(bytes)).toEqual({
      a0000003: null,
      a0000004: "a0000003",
      a0000005: "a0000004",
      a0000006: "a0000005",
      a0000007: "a0000006",
      a0000008: "a0000007",
      a000000a: "a0000008",
      a000000c: "a0000005",
      a000000d: "a000000c",
      a000000e: "a000000d",
      a000000f: "a000000e",
      a0000013: "a000000f",
      a0000014: "a0000013",
    });
    expect(dump.entries.map(({ seq }) => seq)).toEqual(dump.entries.map((_, index) => index + 1));
  });

  it("gives each entry an id of its own time, the same at every reading, and another in another session", () => {
    for (const { id, timestamp } of dump.entries) {
      expect(isUuidV7(id)).toBe(true);
      expect(timestampOf(id)).toBe(timestamp);
    }
    expect(canonicalJson(readV3(bytes).dump)).toBe(canonicalJson(dump));
    const copied = Buffer.from(bytes.toString().replace('"app-1"', '"app-2"'));
    const ids = new Set(readV3(copied).dump.entries.map(({ id }) => id));
    expect(dump.entries.filter(({ id }) => ids.has(id))).toEqual([]);
    const injected = readV3(bytes, undefined, { randomFor: (...parts) => seededRandom(7, ...parts) });
    expect(injected.dump.entries.filter(({ id }) => dump.entries.some((each) => each.id === id))).toEqual([]);
  });

  it("points main at the nearest kept ancestor of the last node, at rest and without a configuration", () => {
    expect(registersOf(bytes)).toEqual({
      "lane.leaf/main": idOf.get("a0000014"),
      "lane.state/main": { currentOperationId: null, pendingNextRun: [] },
      "fact.name/": "Apples and pears",
      [`fact.label/${idOf.get("a000000a")}`]: "named",
    });
    expect(warnings.map(({ reason, line }) => [reason, line])).toEqual([["label_dropped", 17]]);
  });

  it("materialises a tail from the first kept entry on its own branch, dropped types included in the walk", () => {
    expect(tailTexts(entry("a0000008"))).toEqual([
      "custom: they are green",
      'assistant: [{"type":"text","text":"twelve"}]',
    ]);
    expect(tailTexts(entry("a0000013"))).toEqual([
      "user: count the pears instead",
      "branchSummary: the apples: twelve",
    ]);
    expect(JSON.stringify(dump)).not.toContain("firstKeptEntry");
  });

  it("remaps what a summary was made from, through dropped nodes, and leaves ids in payloads alone", () => {
    expect(entry("a000000e")).toMatchObject({ fromId: idOf.get("a000000a"), fromHook: false });
    expect(entry("a000000f")).toMatchObject({ fromId: "root" });
    expect(entry("a000000d")).toMatchObject({ data: { entry: "a0000005" } });
    expect(entry("a0000006")).toMatchObject({ message: { role: "custom", details: { by: "a0000005" } } });
  });

  it("keeps times, details, usage and fromHook, unknown keys of blocks, and drops those of entries", () => {
    expect(entry("a0000008")).toMatchObject({
      timestamp: Date.UTC(2026, 1, 3, 10, 0, 8),
      details: { files: [] },
      usage: { totalTokens: 10 },
      fromHook: true,
    });
    // The clock had stepped back; the time is what it is.
    expect(entry("a0000013")?.timestamp).toBeLessThan(entry("a000000f")?.timestamp ?? 0);
    expect(JSON.stringify(entry("a0000004"))).toContain('"partialJson":"{}"');
    expect(entry("a000000a")).not.toHaveProperty("message.exitCode");
  });

  it("adds up what its nodes show, over all branches, and never the messages in a tail", () => {
    expect(dump.usage).toEqual([]);
    expect(dump.stats).toEqual({
      messageCount: 8,
      usage: {
        ...zeroUsage(),
        input: 46,
        output: 17,
        cacheRead: 2,
        cacheWrite: 1,
        totalTokens: 66,
        reasoning: 1,
        cost: { ...zeroUsage().cost, total: 2.375 },
      },
    });
  });

  it("names its parent by id if the file is there, and by path if not, never by both", () => {
    expect(dump.metadata).toEqual({
      id: "app-1",
      createdAt: Date.UTC(2026, 1, 3, 10, 0, 5),
      storageVersion: 1,
      cwd: "/home/ada/shop",
      legacyParentSessionPath: "/home/ada/.sessions/parent.jsonl",
    });
    const asked: string[] = [];
    const parentIdOf = (path: string) => {
      asked.push(path);
      return "parent-1";
    };
    const { metadata } = readV3(bytes, undefined, { parentIdOf }).dump;
    expect(metadata).toMatchObject({ parentSessionId: "parent-1" });
    expect(metadata).not.toHaveProperty("legacyParentSessionPath");
    expect(asked).toEqual(["/home/ada/.sessions/parent.jsonl"]);
  });
});

describe("a session as the library wrote it", () => {
  const bytes = fixture("v3-library");
  const { dump, idOf, warnings } = readV3(bytes);

  it("uses a stored tail as it is, repaired, though a first kept entry stands beside it", () => {
    expect(tailTexts(dump.entries[2])).toEqual(["user: kept by hand", "assistant: []"]);
    expect(dump.entries[2]).toMatchObject({
      retainedTail: [{}, { stopReason: "error", usage: { totalTokens: 100, cost: { total: 0 } } }],
    });
    expect(dump.stats.usage.totalTokens).toBe(2);
  });

  it("turns an older compaction inside a tail into its summary", () => {
    expect(tailTexts(dump.entries[4])).toEqual([
      'assistant: [{"type":"text","text":"one"}]',
      "compactionSummary: it began",
      "user: second",
    ]);
  });

  it("lets a last leaf entry speak for its target, through dropped nodes", () => {
    expect(registersOf(bytes)["lane.leaf/main"]).toBe(idOf.get("b0000003"));
    const to = (targetId: unknown) => {
      const text = bytes.toString();
      const start = text.lastIndexOf("{");
      return Buffer.from(
        `${text.slice(0, start)}${JSON.stringify({ ...base("leaf", "z", "b0000009", 60), targetId })}`,
      );
    };
    expect(registersOf(to("b0000001"))["lane.leaf/main"]).toBeNull();
    expect(registersOf(to(null))["lane.leaf/main"]).toBeNull();
    expect(registersOf(to("nowhere"))["lane.leaf/main"]).toBeNull();
    expect(registersOf(to("b0000006"))["lane.leaf/main"]).toBe(idOf.get("b0000006"));
    expect(corruptionOf(to(5)).reason).toBe("malformed_entry");
  });

  it("says that the metadata of its header is not carried over", () => {
    expect(warnings.map(({ reason }) => reason)).toEqual(["header_metadata_dropped"]);
  });
});

describe("sessions of versions 1 and 2", () => {
  it("of version 2 have the messages of hooks as custom ones, and totals of their counts", () => {
    const { version, dump } = readV3(fixture("v2-hook-message"));
    expect(version).toBe(2);
    expect(dump.entries[1]).toMatchObject({
      message: { role: "custom", customType: "greeting", display: false },
    });
    expect(dump.entries[2]).toMatchObject({
      message: { usage: { totalTokens: 7, cost: { input: 0.5, output: 0, total: 0.5 } } },
    });
    expect(dump.stats.usage).toMatchObject({ totalTokens: 7, cost: { total: 0.5 } });
  });

  it("of version 1 are one branch in the order of the file, first kept entries by index over parsed lines", () => {
    const bytes = fixture("v1-linear");
    const { version, dump, warnings } = readV3(bytes);
    expect(version).toBe(1);
    const parents = dump.entries.map(({ parentId }) => parentId);
    expect(parents).toEqual([null, ...dump.entries.slice(0, -1).map(({ id }) => id)]);
    expect(tailTexts(dump.entries[4])).toEqual([
      "user: keep me",
      'assistant: [{"type":"text","text":"kept"}]',
    ]);
    expect(tailTexts(dump.entries[5])).toEqual([]);
    expect(registersOf(bytes)["lane.leaf/main"]).toBe(dump.entries[5]?.id);
    expect(dump.stats.usage).toMatchObject({ input: 8, output: 2, totalTokens: 10, cost: { total: 0.5 } });
    expect(dump.metadata).toMatchObject({ id: "one-1", legacyParentSessionPath: "/gone/parent.jsonl" });
    expect(warnings.map(({ reason }) => reason)).toEqual(["unparsable_line"]);
    expect(canonicalJson(readV3(bytes).dump)).toBe(canonicalJson(dump));
  });

  it("of a version that nobody knows are refused, with what to do", () => {
    for (const version of [4, 0, "3", 2.5, null]) {
      const bytes = file({ ...HEADER, version }, said("a", null, 1));
      expect(() => readV3(bytes, "old.jsonl")).toThrow(LegacyVersionUnknown);
      expect(() => readV3(bytes, "old.jsonl")).toThrow(/old\.jsonl.*versions 1 to 3.*open it with/);
    }
  });
});

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
    const text = `${JSON.stringify(HEADER)}\r\n${JSON.stringify(said("a", null, 1))
      .replace('"a"', '"a"')
      .replace('"content":"a"', '"content":"x\u2028y"')}\r\n`;
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

describe("facts", () => {
  it("take the last label of an entry in the order of the file, clears included, dropped targets merged", () => {
    const label = (id: string, targetId: string, text?: string) => ({
      ...base("label", id, "m", 2),
      targetId,
      ...(text === undefined ? {} : { label: text }),
    });
    const lines = [HEADER, said("a", null, 1), { ...base("model_change", "m", "a", 2) }];
    const labelsOf = (...more: object[]) => {
      const { dump } = readV3(file(...lines, ...more));
      return dump.registers.filter(({ namespace }) => namespace === "fact.label").map(({ value }) => value);
    };
    expect(labelsOf(label("1", "a", "x"), label("2", "m", "y"))).toEqual(["y"]);
    expect(labelsOf(label("1", "a", "x"), label("2", "m", ""))).toEqual([]);
    expect(labelsOf(label("1", "a", "x"), label("2", "m"), label("3", "1", "z"))).toEqual(["z"]);
    expect(labelsOf(label("1", "nowhere", "x"))).toEqual([]);
  });

  it("take the last name, trimmed, and none if it is empty", () => {
    const named = (...names: (string | undefined)[]) =>
      registersOf(
        file(
          HEADER,
          ...names.map((name, index) => ({ ...base("session_info", `i${index}`, null, 1), name })),
        ),
      )["fact.name/"];
    expect(named("a", " b ")).toBe("b");
    expect(named("a", "  ")).toBeUndefined();
    expect(named("a", undefined)).toBeUndefined();
  });
});

describe("recognising", () => {
  it("tells what a file is from its first object", () => {
    expect(recognise(fixture("v3-damaged"))).toEqual({ kind: "legacy", version: 3, id: "dam-1" });
    expect(recognise(fixture("v2-hook-message"))).toMatchObject({ version: 2 });
    expect(recognise(fixture("v1-linear"))).toMatchObject({ version: 1, id: "one-1" });
    expect(recognise(fixture("version-0-open"))).toEqual({
      kind: "format4",
      id: "version-0-open",
      storageVersion: 0,
    });
    expect(recognise(file({ ...HEADER, version: 9 }))).toEqual({
      kind: "unknown_version",
      version: 9,
      id: "s",
    });
    expect(recognise(Buffer.alloc(0))).toEqual({ kind: "empty" });
    for (const other of ["[]\n", "hello", '{"type":"session"}', '{"a":1}', "\u0000\u0000"]) {
      expect(recognise(Buffer.from(other)).kind).toBe("other");
    }
    expect(recognise(fixture("v3-application").subarray(0, 200)).kind).toBe("legacy");
  });
});
