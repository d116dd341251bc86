/**
 * Exit codes, and the one way to end early.
 *
 * 0 all survived · 1 a promise was broken · 2 wrong usage or unreadable input · 3 inconclusive · 4 crashproof failed.
 */
import {
  type CheckpointRefusalCode,
  type Decisive,
  type MergeRefusalCode,
  overallVerdict,
} from "../explore/index.ts";

export const EXIT = { survived: 0, violated: 1, usage: 2, inconclusive: 3, failed: 4 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Wrong usage: what was given, what was expected, what to do. Ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code: UsageCode;

  constructor(code: UsageCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What an error says of itself, for a message. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Documented in the README, section "Errors of the command line". */
export type UsageCode =
  | "UNKNOWN_SCENARIO"
  | "UNKNOWN_SUBJECT"
  | "UNKNOWN_CHECKER"
  | "UNKNOWN_CANARY"
  | "UNKNOWN_RACE"
  | "UNKNOWN_FAULT"
  | "UNKNOWN_BOUNDARY"
  | "INVALID_RUN_ID"
  | "INVALID_NUMBER"
  | "INVALID_SHARD"
  | "ENDS_BY_THE_CLOCK"
  | MergeRefusalCode
  | CheckpointRefusalCode
  | "INVALID_DURATION"
  | "UNWRITABLE_OUTPUT";

/** The exit code of a result. */
export function exitCodeOf(result: Decisive): ExitCode {
  return EXIT[overallVerdict(result)];
}
