/**
 * Stored state: at the end of a run, what is stored is exactly what was confirmed.
 *
 * Checks: entries, registers, usage and stats of the stored session equal the fold of the confirmed transactions, with
 * ids, sequence numbers, times and parents as they were answered (invariants 2 and 6: all or nothing, and no row ever
 * changes). Does not check: what was confirmed (the other checkers do), and the session's metadata.
 *
 * A transaction that failed may or may not be stored. The next sequence number tells; if none follows, either is right.
 */
import { REGISTER_NAMESPACES } from "../model/index.ts";
import { byNamespaceThenSeq, type SessionDump } from "../storage/index.ts";
import { exactContents } from "./canonical-view.ts";
import { firstDifference } from "./compare-views.ts";
import type { HarnessCheck, HarnessCheckRun } from "./harness-check.ts";
import { holdsSameRows } from "./same-view.ts";
import type { StoreModel } from "./store-model.ts";

export const storedState: HarnessCheck = {
  name: "stored-state",
  promise: "what is stored at the end is exactly what was confirmed on the way",
  doesNotCheck: "whether what was confirmed was right, and the session's metadata",
  start: () => run,
};

const run: HarnessCheckRun = {
  finish: (end, model, report) => {
    const confirmed = dumpOf(model);
    if (holdsSameRows(end.view, confirmed)) return;
    const { exact } = end.view;
    const [before, after] = exactContents(confirmed);
    if (exact.startsWith(before) && exact.endsWith(after)) return;
    // Metadata are written by no transaction, so whatever stands there is right.
    const { metadata: _metadata, ...found } = JSON.parse(exact);
    const difference = firstDifference(JSON.parse(`${before}null${after}`), { ...found, metadata: null });
    if (difference === undefined) return;
    const place = difference.pointer.split("/")[1] ?? "";
    report(
      `stored ${place} differ from the confirmed ones`,
      `at ${difference.pointer}: confirmed ${difference.expected}, stored ${difference.found}`,
    );
  },
  fork: () => run,
};

/** The session that the confirmed transactions make. */
export function dumpOf(model: StoreModel): SessionDump {
  return {
    metadata: { id: "", createdAt: 0, storageVersion: 1 },
    entries: model.entries(),
    registers: REGISTER_NAMESPACES.flatMap((namespace) => model.registers(namespace)).sort(
      byNamespaceThenSeq,
    ),
    usage: model.usageRows(),
    stats: model.stats,
  };
}
