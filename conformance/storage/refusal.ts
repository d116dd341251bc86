/** Calls and refusals of a store: which error a call must reject with. */
import assert from "node:assert/strict";
import type { InvalidTransactionReason } from "../../src/storage/index.ts";
import { rejectsWith } from "../refusal.ts";

/** The fields that a refusal must have. */
export type Refusal =
  | { readonly code: "STORAGE_CLOSED" }
  | { readonly code: "STORAGE_FAULT" }
  | { readonly code: "UNKNOWN_ENTRY"; readonly entryId: string }
  | { readonly code: "NOT_JSON"; readonly path: string }
  | {
      readonly code: "INVALID_TRANSACTION";
      readonly reason: InvalidTransactionReason;
      /** Absent where the transaction as a whole is refused. */
      readonly writeIndex?: number;
    };

export const closed: Refusal = { code: "STORAGE_CLOSED" };
export const faulted: Refusal = { code: "STORAGE_FAULT" };

export function notJson(path: string): Refusal {
  return { code: "NOT_JSON", path };
}

export function invalid(reason: InvalidTransactionReason, writeIndex?: number): Refusal {
  const refusal = { code: "INVALID_TRANSACTION", reason } as const;
  return writeIndex === undefined ? refusal : { ...refusal, writeIndex };
}

/**
 * A call that was made and is looked at later. If it rejects before that, or if the clause has failed by then, the
 * rejection is no unhandled one, which would end the process that runs the suite.
 */
export function underway<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Proves that a call rejects, does not throw, and rejects with the fields of the refusal. Answers the error. */
export async function refuses(call: () => Promise<unknown>, refusal: Refusal): Promise<Error> {
  let promise: Promise<unknown>;
  try {
    promise = call();
  } catch (error) {
    assert.fail(`the call threw instead of rejecting: ${String(error)}`);
  }
  return rejectsWith(promise, refusal);
}
