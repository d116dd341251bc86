/**
 * What a session file is, for tools that only read (spec §4, goldens).
 */

import { reduce } from "./reduction.ts";
import type { Refusal } from "./refusal.ts";
import type { SessionState } from "./state.ts";

export type Inspection =
  | { readonly ok: true; readonly state: SessionState }
  | { readonly ok: false; readonly error: Refusal };

/** Reads a file from its bytes and changes nothing: the state after its committed lines, or the first refusal. */
export function inspectTxlog(bytes: Uint8Array): Inspection {
  const reduction = reduce(bytes);
  return reduction.ok
    ? { ok: true, state: reduction.value.snapshot() }
    : { ok: false, error: reduction.error };
}
