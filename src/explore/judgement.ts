/** From how a life ended to what is judged of its run. */
import type { Violation } from "../checkers/index.ts";
import type { Judgement } from "./result.ts";
import type { LifeEnd } from "./standing.ts";

/** A judgement before it is known of which run. */
export type Finding = Omit<Judgement, "id">;

/** The judgement of a life's end, whatever it was. */
export function judge(id: string, end: LifeEnd): Judgement {
  switch (end.kind) {
    case "settled":
      return { id, violations: end.violations };
    case "refused":
      return { id, violations: [refusal("refused", end.error, "the run ended with")] };
    case "unreadable":
      return { id, violations: [refusal("unreadable", end.error, "what the run left cannot be read:")] };
    case "cap-reached":
      return {
        id,
        violations: [],
        inconclusive: {
          signature: "cap-reached",
          message: "the run crossed more boundaries than its cap allows",
        },
      };
    case "stalled":
      return {
        id,
        violations: [],
        inconclusive: {
          signature: "stalled",
          message: "the run stood still: it waits for something that never comes",
        },
      };
  }
}

/** Several judgements of one run as one. */
export function together(first: Judgement, ...more: readonly Finding[]): Judgement {
  const all = [first, ...more];
  const violations = all.flatMap((judgement) => judgement.violations);
  const inconclusive = all.find((judgement) => judgement.inconclusive !== undefined)?.inconclusive;
  const limit = all.find((judgement) => judgement.limit !== undefined)?.limit;
  return {
    id: first.id,
    violations,
    ...(inconclusive === undefined ? {} : { inconclusive }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** The system threw where it should have gone on; `what` begins the message, `signature` the signature. */
export function refusal(signature: string, error: unknown, what: string): Violation {
  const { name, message } = error instanceof Error ? error : { name: "unknown", message: String(error) };
  const reason =
    typeof error === "object" && error !== null && "reason" in error ? `:${String(error.reason)}` : "";
  return {
    checker: "recovery",
    signature: `${signature}:${name}${reason}`,
    message: `${what} ${name}: ${message}`,
  };
}
