/** The canonical view compares what must be compared, and nothing else. */
import { describe, expect, it } from "vitest";
import { canonicalJson, VIRTUAL_EPOCH_MS } from "../foundation/index.ts";
import type { SessionDump } from "../storage/index.ts";
import { viewOf } from "./canonical-view.ts";
import { renamedJson, renameIds } from "./ids-and-times.ts";
import { History, twoTools } from "./testing/history.ts";

const reading = { downtimes: [] };
const canonical = (dump: SessionDump) => viewOf(dump, reading).canonical;
const firstEntry = (dump: SessionDump) => {
  const [first, ...rest] = dump.entries;
  if (first?.type !== "message") throw new Error("no message");
  return { first, rest };
};

describe("the canonical view", () => {
  it("is JSON that names ids by first appearance and times as offsets", () => {
    const view = JSON.parse(canonical(new History().seed().prompt("hi").dump()));
    expect(view.entries).toEqual([
      {
        id: "<id1>",
        parentId: null,
        timestamp: 0,
        type: "message",
        message: { role: "user", content: "hi", timestamp: 0 },
      },
    ]);
    expect(view.metadata).toEqual({ createdAt: 0, id: "session", storageVersion: 1 });
    const meta = view.registers.find((register: { namespace: string }) => register.namespace === "op.meta");
    expect(meta.value).toMatchObject({
      operationId: "<id2>",
      startedAt: 0,
      intent: { promptEntryIds: ["<id1>"] },
    });
    expect(canonical(twoTools().dump())).not.toMatch(/@seq|[0-9a-f]{8}-[0-9a-f]{4}-/);
  });

  it("is the same for the same session under other ids, seqs and key orders", () => {
    const one = twoTools().dump();
    const shifted = JSON.parse(
      JSON.stringify(one).replaceAll(/[0-9a-f]{4}-[0-9a-f]{12}/g, (found) =>
        [...found]
          .reverse()
          .join("")
          .replace(/^(.{12})-(.{4})$/, "$2-$1"),
      ),
      (_key, value) => {
        if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
        const entries = Object.entries(value).reverse();
        return Object.fromEntries(
          entries.map(([key, member]) => [key, key === "seq" ? Number(member) + 100 : member]),
        );
      },
    );
    expect(viewOf(shifted, reading).exact).not.toBe(viewOf(one, reading).exact);
    expect(canonical(shifted)).toBe(canonical(one));
  });

  it("takes the downtimes before a time out of it, and no later ones", () => {
    const dump = new History().seed().prompt().dump();
    const { first } = firstEntry(dump);
    const late = { ...dump, entries: [first, { ...first, timestamp: VIRTUAL_EPOCH_MS + 5_500 }] };
    const downtimes = [
      { atMs: VIRTUAL_EPOCH_MS + 100, durationMs: 5_000 },
      { atMs: VIRTUAL_EPOCH_MS + 9_000, durationMs: 1_000 },
    ];
    const view = JSON.parse(viewOf(late, { downtimes }).canonical);
    expect(view.entries.map(({ timestamp }: { timestamp: number }) => timestamp)).toEqual([0, 500]);
  });

  const changes: Record<string, (dump: SessionDump) => SessionDump> = {
    "a lost entry": (dump) => ({ ...dump, entries: dump.entries.slice(1) }),
    "another order of entries": (dump) => ({ ...dump, entries: [...dump.entries].reverse() }),
    "a changed text": (dump) => {
      const { first, rest } = firstEntry(dump);
      return {
        ...dump,
        entries: [{ ...first, message: { role: "user", content: "other", timestamp: 0 } } as never, ...rest],
      };
    },
    "another time": (dump) => {
      const { first, rest } = firstEntry(dump);
      return { ...dump, entries: [{ ...first, timestamp: first.timestamp + 1 }, ...rest] };
    },
    "another parent": (dump) => {
      const { first, rest } = firstEntry(dump);
      return { ...dump, entries: [first, ...rest.map((entry) => ({ ...entry, parentId: first.id }))] };
    },
    "a leaked register": (dump) => ({
      ...dump,
      registers: [...dump.registers, { namespace: "op.tool_args", key: "x", value: {}, seq: 99 }],
    }),
    "a lost usage row": (dump) => ({ ...dump, usage: dump.usage.slice(1) }),
    "wrong stats": (dump) => ({ ...dump, stats: { ...dump.stats, messageCount: 0 } }),
  };

  it.each(Object.entries(changes))("shows %s", (_, change) => {
    const dump = twoTools().dump();
    expect(canonical(change(dump))).not.toBe(canonical(dump));
  });

  it("keeps a text that looks like a volatile member", () => {
    const dump = new History().seed().prompt('"@seq":12, {"timestamp":5}').dump();
    expect(JSON.parse(canonical(dump)).entries[0].message.content).toBe('"@seq":12, {"timestamp":5}');
    expect(JSON.parse(viewOf(dump, reading).exact).entries[0]["@seq"]).toBe(4);
  });

  it("renames the ids of an edited view as it would have named them", () => {
    const view = JSON.parse(canonical(twoTools().dump()));
    const shorter = { ...view, entries: view.entries.slice(1) };
    expect(renameIds(canonicalJson(shorter))).toMatch(
      /^\{"entries":\[\{"id":"<id1>","message":.*"parentId":"<id2>"/,
    );
    expect(renamedJson(shorter)).toBe(renameIds(canonicalJson(shorter)));
    expect(renamedJson(view)).toBe(canonical(twoTools().dump()));
  });

  it("is the same whether a row's text is made for the first time or not", () => {
    const dump = twoTools().dump();
    const frozen = { ...dump, entries: dump.entries.map((entry) => Object.freeze(entry)) };
    const first = viewOf(frozen, reading);
    const second = viewOf(frozen, reading);
    expect([second.exact, second.canonical]).toEqual([first.exact, first.canonical]);
    const later = { downtimes: [{ atMs: VIRTUAL_EPOCH_MS - 5, durationMs: 5 }] };
    expect(viewOf(frozen, later).canonical).toBe(viewOf(dump, later).canonical);
  });

  it("writes the exact text that sorted JSON would be", () => {
    const dump = new History().seed().prompt('"quoted" \u2028 ü').dump();
    const { exact } = viewOf(dump, reading);
    expect(JSON.parse(exact).entries[0].message.content).toBe('"quoted" \u2028 ü');
    expect(JSON.stringify(JSON.parse(exact))).toBe(exact);
  });
});
