/**
 * The view of a transactional session: the state after its committed lines (spec of the transactional session, §4).
 *
 * *Exact* holds the state, what became of every operation, which the state forgets, and the number of facts. *Canonical*
 * leaves the facts uncounted, since a repeated attempt is one more, and renames the ids. Both leave out what depends on
 * where the file lies: the working directory, and the length in bytes that it makes longer.
 */
import { Corruption, canonicalJson } from "../../foundation/index.ts";
import { operationsIn, type PastOperation, reduce, type SessionState } from "../../txlog/index.ts";
import type { View } from "../contract.ts";
import { nameOf, renameIds, UUID } from "../ids-and-times.ts";

/** What both texts hold of the state. */
export type VisibleState = Pick<SessionState, "transcript" | "activeContext" | "usage" | "operation"> & {
  readonly operations: readonly PastOperation[];
};

/** Reads the bytes of a session file. @throws Corruption if the file is refused */
export function viewOfTxlog(bytes: Uint8Array): View {
  const reduction = reduce(bytes);
  if (!reduction.ok) {
    const { code, line, seq } = reduction.error;
    throw new Corruption(code, `the session is refused${seq === undefined ? "" : ` at fact ${seq}`}`, {
      line,
    });
  }
  const { transcript, activeContext, usage, operation, header } = reduction.value.snapshot();
  const operations = operationsIn(bytes);
  const visible: VisibleState = { transcript, activeContext, usage, operation, operations };
  const { cwd: _, ...identity } = header;
  return {
    exact: canonicalJson({ ...visible, header: identity, factCount: reduction.value.nextSeq - 1 }),
    canonical: canonicalOf(visible),
  };
}

/** The canonical text of a state. */
export function canonicalOf(visible: VisibleState): string {
  const names = new Map<string, string>();
  const renamed = canonicalJson(visible).replace(UUID, (found) => nameOf(found, names));
  // A state that was read from a canonical text is named already, and keeps its order.
  return names.size === 0 ? renameIds(renamed) : renamed;
}

/** The state of a canonical text. */
export function stateOf(canonical: string): VisibleState {
  return JSON.parse(canonical) as VisibleState;
}
