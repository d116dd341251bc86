/**
 * What became of every operation of a session, in order: what its public state leaves out (spec §4), and what an
 * application asks for after a restart, since each of its calls that was accepted is one operation.
 *
 * It scans the committed lines for the records that begin and end operations. It judges nothing: whether a file may be
 * read at all is the reducer's to say.
 */
import type { NewFact } from "./fact-types.ts";

/** One operation; without an outcome it is unfinished. */
export interface PastOperation {
  readonly kind: "run" | "compaction";
  readonly outcome?: "completed" | "aborted" | "failed";
}

/** The operations of a session file that the reducer accepts. Bytes after the last line feed say nothing. */
export function operationsIn(bytes: Uint8Array): readonly PastOperation[] {
  const text = Buffer.from(bytes).toString("utf8");
  const transactions = text.split("\n").slice(1, -1);
  const operations: PastOperation[] = [];
  for (const line of transactions) {
    const transaction = JSON.parse(line) as NewFact | readonly NewFact[];
    for (const fact of [transaction].flat()) {
      if (fact.kind !== "record") continue;
      const { record } = fact;
      if (record.type === "runStarted" || record.type === "compactionStarted") {
        operations.push({ kind: record.operationKind });
      } else if (record.type === "operationFinished") {
        // At most one is unfinished, so the end is that of the newest start.
        operations[operations.length - 1] = { kind: record.operationKind, outcome: record.outcome };
      }
    }
  }
  return operations;
}
