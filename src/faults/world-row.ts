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
  /** What the provider was shown, oldest first; absent for a poll, and where a system's adapter does not say it. */
  readonly shown?: readonly ShownMessage[];
  /** The job that was polled; of a poll only. */
  readonly job?: string;
}

/** A message as a provider is shown it: who says it, in which words, cut to a {@link shortened} text. */
export interface ShownMessage {
  readonly by: "user" | "model" | "tool";
  readonly text: string;
  /** Of the model: the calls that it asks for, by its own ids; absent for none. */
  readonly calls?: readonly string[];
  /** Of a tool: the call that it answers. */
  readonly answers?: string;
}

/** The beginning of a text, with its length if that is not all of it. */
export function shortened(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}… (${text.length} characters)`;
}

/** Characters of a message that a row keeps. */
const TEXT_MAX = 400;

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
  /** All that the summarizer was told; absent where a system's adapter does not say it. */
  readonly told?: string;
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
