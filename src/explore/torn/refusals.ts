/** Refusals: which of them are meant, and which are accidents. */
import type { Violation } from "../../checkers/index.ts";
import { refusal } from "../judgement.ts";

/** A broken promise about damaged bytes. */
export function broken(signature: string, message: string): Violation {
  return { checker: "torn-bytes", signature, message };
}

/** A refusal whose reason nobody meant. */
export function unnamed(error: unknown): Violation {
  const { signature, message } = refusal(
    "unnamed refusal",
    error,
    "it is refused without a named reason, by",
  );
  return broken(signature, message);
}

/** Whether an error is a refusal that was meant, with a reason that a caller can tell from others. */
export function isNamed(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, reason } = error as Error & { readonly code?: unknown; readonly reason?: unknown };
  // What the language itself throws is an accident, whatever it carries.
  const isAccident = ACCIDENTS.some((accident) => error instanceof accident);
  return !isAccident && (typeof reason === "string" || typeof code === "string");
}

const ACCIDENTS = [TypeError, RangeError, ReferenceError, SyntaxError];

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
