/**
 * A stale owner: another process has taken its session over, and it goes on where it stood. Its commit must be refused and
 * leave nothing; it must be told, and must do nothing more outside.
 */
import type { Violation } from "../checkers/index.ts";
import { violationsOf } from "./checks.ts";

/** When it wakes up: while the other process holds the session, or after that one has let go of it. */
export const WAKES = ["held", "released"] as const;
export type Wake = (typeof WAKES)[number];

/** What it did then. */
export interface Woken {
  /** Whether what is durable is other than before. */
  readonly isChanged: boolean;
  /** How it ended; `unknown` is a doubt, of which its explorer tells. */
  readonly end: "was told" | "went on" | "unknown";
  /** Whether it started a new effect. */
  readonly isOutside: boolean;
}

/** What it broke. `who` names it, with what it did when it woke up. */
export function brokenByWaking(who: string, wake: Wake, { isChanged, end, isOutside }: Woken): Violation[] {
  const where = `${who} after another process had taken the session over and ${wake === "held" ? "held it" : "let go of it"}`;
  const broken = violationsOf("single-writer");
  return [
    ...(isChanged ? [broken("stale-commit-accepted", `${where} changed what is durable`)] : []),
    ...(end === "went on" ? [broken("stale-owner-not-told", `${where} was not refused`)] : []),
    ...(isOutside ? [broken("stale-owner-acted", `${where} started a new effect`)] : []),
  ];
}
