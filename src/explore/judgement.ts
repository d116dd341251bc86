/** From how lives ended to what is found of their runs; and how findings are put together. */
import type { Violation } from "../checkers/index.ts";
import { violationsOf } from "./checks.ts";
import type { Judgement } from "./result.ts";
import type { LifeEnd } from "./standing.ts";

/** A judgement before it is known of which run. */
export type Finding = Omit<Judgement, "id">;

/** Nothing was found. */
export const FINE: Finding = { violations: [] };

/** Why nothing can be said. */
export function doubt(signature: string, message: string): Finding {
  return { violations: [], inconclusive: { signature, message } };
}

/** The judgement of a life's end, whatever it was. */
export function judge(id: string, end: LifeEnd): Judgement {
  return { id, ...findingOf(end) };
}

/** What a life's end shows, whatever it was. */
export function findingOf(end: LifeEnd): Finding {
  switch (end.kind) {
    case "settled":
      return { violations: end.violations };
    case "refused":
      return { violations: [refusal("refused", end.error, "the run ended with")] };
    case "unreadable":
      return { violations: [refusal("unreadable", end.error, "what the run left cannot be read:")] };
    case "cap-reached":
      return doubt("cap-reached", "the run crossed more boundaries than its cap allows");
    case "stalled":
      return doubt("stalled", "the run stood still: it waits for something that never comes");
  }
}

/** Several findings about one run as one. All doubts but the first are left out, and so are all limits but the first. */
export function together<T extends Finding>(first: T, ...more: readonly Finding[]): T {
  const all = [first, ...more];
  const violations = all.flatMap((judgement) => judgement.violations);
  const inconclusive = all.find((judgement) => judgement.inconclusive !== undefined)?.inconclusive;
  const limit = all.find((judgement) => judgement.limit !== undefined)?.limit;
  return {
    ...first,
    violations,
    ...(inconclusive === undefined ? {} : { inconclusive }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/**
 * The system threw where it should have gone on; `what` begins the message, `signature` the signature, and `broken` says
 * which promise that breaks.
 */
export function refusal(
  signature: string,
  error: unknown,
  what: string,
  broken = violationsOf("recovery"),
): Violation {
  const { name, message } = error instanceof Error ? error : { name: "unknown", message: String(error) };
  const reason =
    typeof error === "object" && error !== null && "reason" in error ? `:${String(error.reason)}` : "";
  return broken(`${signature}:${name}${reason}`, `${what} ${name}: ${message}`);
}

/** Whether an error is an accident, whatever it carries: what the language itself throws, nobody meant. */
export function isAccident(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind);
}

/** What is found of subjects that must come to the same, each with a digest of what it came to. */
export function agreementOf(digests: ReadonlyMap<string, string>): Finding {
  const sides = new Map<string, string[]>();
  for (const [subject, digest] of digests) sides.set(digest, [...(sides.get(digest) ?? []), subject]);
  if (sides.size < 2) return FINE;
  const message = [...sides.values()].map((side) => side.join(" = ")).join(" ≠ ");
  const broken = violationsOf("backends-agree");
  return { violations: [broken("backends-differ", `the same run came to different ends: ${message}`)] };
}
