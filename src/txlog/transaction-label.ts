/**
 * What a transaction does, in one word: the name of the commit as a place where a process can die.
 *
 * The label follows from the facts alone, so whoever stands between the driver and the store can name every boundary
 * without knowing what the driver is about. Usage rides along with the fact that it belongs to.
 *
 * A file may hold two transactions that the driver never makes by itself, so that no process of it dies there, and they
 * are no rows of its coverage: a message of the user alone, since the driver accepts one together with the start of its
 * run (spec §3.8, duty 7), and usage alone, since the driver writes it together with the outcome that it is the cost of,
 * or not at all. `driver/prefix.test.ts` holds it to that.
 */
import { absurd } from "../foundation/index.ts";
import type { EntryBody, NewFact, RecordBody } from "./fact-types.ts";

/** The labels of all transactions that the driver makes, in the order of a run. */
export const TRANSACTION_LABELS = [
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
] as const;

/** The last two are labels of what other writers make. */
export type TransactionLabel = (typeof TRANSACTION_LABELS)[number] | "userMessage" | "usage";

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
