/** What really happened outside: the rows of a world's bill and of its effect ledger. */
import type { ScriptedUsage } from "./scenario.ts";

/** One thing that really happened outside. */
export type WorldRow = BillRow | SummaryRow | DecisionRow | EffectRow | CancellationRow;

/** A request or a poll that was sent, and what it cost. */
export interface BillRow {
  readonly kind: "request";
  /** The lane whose turn it is; absent for the first one. */
  readonly lane?: string;
  readonly turn: number;
  /** From 1: one more than the answers that this turn had settled when it was asked. */
  readonly ask: number;
  readonly usage: ScriptedUsage;
}

/** A request for a summary that was sent, and what it cost. */
export interface SummaryRow {
  readonly kind: "summary";
  /** Which work it is for, as the scenario counts it. */
  readonly task: number;
  /** 0 or 1: the how-manieth request of its attempt. */
  readonly index: number;
  /** From 1. */
  readonly attempt: number;
  readonly usage: ScriptedUsage;
}

/** A decision hook of the application that ran. */
export interface DecisionRow {
  readonly kind: "decision";
  /** Which work it decided, as the scenario counts it. */
  readonly task: number;
  /** What it cost to supply a result; absent: nothing. */
  readonly usage?: ScriptedUsage;
}

/** A tool execution that took place. */
export interface EffectRow {
  readonly kind: "tool";
  readonly tool: string;
  /** The provider's id of the call. */
  readonly callId: string;
  /** Canonical JSON of the arguments it ran with. */
  readonly argumentsText: string;
}

/** A deferred job that the provider was asked to give up. Costs nothing. */
export interface CancellationRow {
  readonly kind: "cancellation";
  readonly job: string;
}
