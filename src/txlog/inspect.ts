/**
 * What a session file is, for tools that only read (spec §4, goldens).
 */
import type { Result } from "../foundation/index.ts";
import { type Reduction, reduce } from "./reduction.ts";
import type { Refusal } from "./refusal.ts";
import type { SessionState } from "./state.ts";

export type Inspection =
  | { readonly ok: true; readonly state: SessionState }
  | { readonly ok: false; readonly error: Refusal };

/** Reads a file from its bytes and changes nothing: the state after its committed lines, or the first refusal. */
export function inspectTxlog(bytes: Uint8Array): Inspection {
  return inspectionOf(reduce(bytes));
}

/** What a reduction says of the file that it was made of. */
export function inspectionOf(reduction: Result<Reduction, Refusal>): Inspection {
  return reduction.ok
    ? { ok: true, state: reduction.value.snapshot() }
    : { ok: false, error: reduction.error };
}
