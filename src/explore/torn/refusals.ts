/** Refusals: which of them are meant, and which are accidents. */
import type { Violation } from "../../checkers/index.ts";
import { violationsOf } from "../checks.ts";
import { isAccident, refusal } from "../judgement.ts";

/** A broken promise about damaged bytes. */
export const broken = violationsOf("torn-bytes");

/** A refusal whose reason nobody meant. */
export function unnamed(error: unknown): Violation {
  return refusal("unnamed refusal", error, "it is refused without a named reason, by", broken);
}

/** Whether an error is a refusal that was meant, with a reason that a caller can tell from others. */
export function isNamed(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, reason } = error as Error & { readonly code?: unknown; readonly reason?: unknown };
  return !isAccident(error) && (typeof reason === "string" || typeof code === "string");
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
