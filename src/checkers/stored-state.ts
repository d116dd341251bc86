/**
 * Stored state: at the end of a run, what is stored is exactly what was confirmed.
 *
 * Checks: entries, registers, usage and stats of the stored session equal the fold of the confirmed transactions, with
 * ids, sequence numbers, times and parents as they were answered (invariants 2 and 6: all or nothing, and no row ever
 * changes). Does not check: what was confirmed (the other checkers do), and the session's metadata.
 *
 * A transaction that failed may or may not be stored. The next sequence number tells; if none follows, either is right.
 */
import { jsonEquals } from "../foundation/index.ts";
import { REGISTER_NAMESPACES, type Register } from "../model/index.ts";
import { byNamespaceThenSeq, type SessionDump } from "../storage/index.ts";
import { exactContents, sourceOf } from "./canonical-view.ts";
import { firstDifference } from "./compare-views.ts";
import type { View } from "./contract.ts";
import type { HarnessCheck, HarnessCheckRun } from "./harness-check.ts";
import type { StoreModel } from "./store-model.ts";

export const storedState: HarnessCheck = {
  name: "stored-state",
  promise: "what is stored at the end is exactly what was confirmed on the way",
  doesNotCheck: "whether what was confirmed was right, and the session's metadata",
  start: () => run,
};

const run: HarnessCheckRun = {
  finish: (end, model, report) => {
    if (holdsConfirmed(end.view, model)) return;
    const confirmed = dumpOf(model);
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

/**
 * Whether a view was read from exactly the rows that were confirmed, found without putting a session together. Registers
 * that rise in their order are none of them twice; as many as there are confirmed ones, and each of them one, are all.
 */
function holdsConfirmed(view: View, model: StoreModel): boolean {
  const found = sourceOf(view)?.dump;
  if (found === undefined || !jsonEquals(model.stats, found.stats)) return false;
  if (!jsonEquals(model.entries(), found.entries) || !jsonEquals(model.usageRows(), found.usage))
    return false;
  let count = 0;
  for (const namespace of REGISTER_NAMESPACES) count += model.registers(namespace).length;
  if (count !== found.registers.length) return false;
  let last: Register | undefined;
  for (const register of found.registers) {
    if (last !== undefined && byNamespaceThenSeq(last, register) >= 0) return false;
    if (!jsonEquals(model.register(register.namespace, register.key), register)) return false;
    last = register;
  }
  return true;
}

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
