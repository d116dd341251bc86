import { describe, expect, it } from "vitest";
import { canonicalJson, isUuidV7, seededRandom, timestampOf } from "../../foundation/index.ts";
import { zeroUsage } from "../../model/index.ts";
import { LegacyVersionUnknown, readV3 } from "./read.ts";
import {
  base,
  corruptionOf,
  file,
  fixture,
  HEADER,
  registersOf,
  said,
  shapeOf,
  tailTexts,
} from "./test-support.ts";

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
