/** A store that keeps something else than it confirmed is found at the end, and told where. */
import { describe, expect, it } from "vitest";
import type { SessionDump } from "../storage/index.ts";
import { viewOf } from "./canonical-view.ts";
import { startHarnessJudge } from "./judge.ts";
import { twoTools } from "./testing/history.ts";
import { SCENARIO } from "./testing/judging.ts";
import { usageOf } from "./testing/values.ts";

const others = ["row-conformance", "invariants", "effect-safety", "ledger-conservation"];

function judgedWith(edit: (dump: SessionDump) => SessionDump) {
  const history = twoTools();
  const judge = startHarnessJudge({ scenario: SCENARIO, off: others });
  for (const event of history.events) judge.observe(event);
  return judge.finish({
    view: viewOf(edit(history.dump()), { downtimes: [] }),
    rows: history.rows,
  });
}

const wrong: Record<string, readonly [string, (dump: SessionDump) => SessionDump]> = {
  "a lost entry": ["entries", (dump) => ({ ...dump, entries: dump.entries.slice(0, -1) })],
  "an entry under another parent": [
    "entries",
    (dump) => ({ ...dump, entries: dump.entries.map((entry) => ({ ...entry, parentId: null })) }),
  ],
  "an entry with another seq": [
    "entries",
    (dump) => ({ ...dump, entries: dump.entries.map((entry) => ({ ...entry, seq: entry.seq + 1 })) }),
  ],
  "an entry of another time": [
    "entries",
    (dump) => ({ ...dump, entries: dump.entries.map((entry) => ({ ...entry, timestamp: 1 })) }),
  ],
  "a register that came back": [
    "registers",
    (dump) => ({
      ...dump,
      registers: [...dump.registers, { namespace: "op.tool_args", key: "x", value: {}, seq: 5 }],
    }),
  ],
  "a register twice, in place of another": [
    "registers",
    (dump) => ({
      ...dump,
      registers: dump.registers.map((register, index) => dump.registers[index === 0 ? 1 : index] ?? register),
    }),
  ],
  "registers in another order": [
    "registers",
    (dump) => ({ ...dump, registers: [...dump.registers].reverse() }),
  ],
  "a register of an earlier value": [
    "registers",
    (dump) => ({
      ...dump,
      registers: dump.registers.map((register) =>
        register.namespace === "lane.leaf" ? { ...register, value: null } : register,
      ),
    }),
  ],
  "a lost usage row": ["usage", (dump) => ({ ...dump, usage: dump.usage.slice(1) })],
  "stats of another sum": [
    "stats",
    (dump) => ({ ...dump, stats: { messageCount: 5, usage: usageOf(1, 1) } }),
  ],
};

describe("the stored state", () => {
  it("passes what was confirmed, whatever the metadata", () => {
    expect(judgedWith((dump) => ({ ...dump, metadata: { ...dump.metadata, id: "another" } }))).toEqual([]);
  });

  it.each(Object.entries(wrong))("is found to hold %s", (_, [place, edit]) => {
    expect(judgedWith(edit).map(({ signature }) => signature)).toEqual([
      `stored ${place} differ from the confirmed ones`,
    ]);
  });
});
