/**
 * What a transaction does, in one word: the name of the commit as a place where a process can die.
 *
 * The label follows from the facts alone, so whoever stands between the driver and the store can name every boundary
 * without knowing what the driver is about. Usage rides along with the fact that it belongs to.
 */
import { absurd } from "../foundation/index.ts";
import type { EntryBody, NewFact, RecordBody } from "./fact-types.ts";

/** All labels, in the order of a run. */
export const TRANSACTION_LABELS = [
  "userMessage",
  "runStarted",
  "compactionStarted",
  "stepAttempt",
  "assistantSettled",
  "compactionSettled",
  "stepFailed",
  "toolStarted",
  "toolResult",
  "synthetic.invalidArguments",
  "synthetic.unknownTool",
  "synthetic.truncated",
  "synthetic.aborted",
  "synthetic.interrupted",
  "abortRequested",
  "operationFinished.completed",
  "operationFinished.aborted",
  "operationFinished.failed",
  "usage",
] as const;

export type TransactionLabel = (typeof TRANSACTION_LABELS)[number];

/** The label of a transaction: the one of its first record, or of its first entry if it has none. */
export function labelOfTransaction(facts: readonly NewFact[]): TransactionLabel {
  for (const fact of facts) {
    if (fact.kind === "record") return labelOfRecord(fact.record);
  }
  for (const fact of facts) {
    if (fact.kind === "entry") return labelOfEntry(fact.entry);
  }
  return "usage";
}

function labelOfRecord(record: RecordBody): TransactionLabel {
  switch (record.type) {
    case "operationFinished":
      return `operationFinished.${record.outcome}`;
    case "runStarted":
    case "compactionStarted":
    case "stepAttempt":
    case "stepFailed":
    case "toolStarted":
    case "abortRequested":
      return record.type;
    default:
      return absurd(record, "record");
  }
}

function labelOfEntry(entry: EntryBody): TransactionLabel {
  if (entry.type === "compaction") return "compactionSettled";
  if ("result" in entry) {
    return entry.result.type === "synthetic" ? `synthetic.${entry.result.reason}` : "toolResult";
  }
  return "stopReason" in entry ? "assistantSettled" : "userMessage";
}
