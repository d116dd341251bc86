/**
 * What must hold between a stored write and all that were stored before it: rising seqs, unique ids, parents that
 * exist, a sum of the ledger that is a number. Commits are right by construction; this is asked of rows that come from
 * outside, a file or a copy.
 */
import { admitJson, Corruption, isCount } from "../foundation/index.ts";
import { addUsage, type Entry, type Register, type UsageRow } from "../model/index.ts";
import { entryFormIssue, registerFormIssue, usageFormIssue } from "./admission.ts";
import type { SessionMetadata } from "./contract.ts";
import { INITIAL_WRITES } from "./creation.ts";
import type { SessionContents } from "./dump.ts";
import { isFiniteSum } from "./ledger-sum.ts";
import { type StoredWrite, storeAdmitted, storedRows } from "./stored-write.ts";
import { Tables } from "./tables.ts";

/** Why a stored write cannot stand where it stands. */
export interface PlacementIssue {
  readonly reason: "seq_not_rising" | "duplicate_id" | "missing_parent" | "sum_too_large";
  readonly message: string;
}

/** What is wrong with the place of a write behind these tables, or undefined. */
export function placementIssue(write: StoredWrite, tables: Tables): PlacementIssue | undefined {
  const { seq } = write;
  if (seq < tables.nextSeq) {
    const message = `seq ${seq} follows seq ${tables.nextSeq - 1}; seq rises strictly`;
    return { reason: "seq_not_rising", message };
  }
  if (write.kind === "set" || write.kind === "delete") return undefined;
  const { id } = write;
  if (tables.hasId(id)) {
    return { reason: "duplicate_id", message: `the id ${id} is written before; rows are written once` };
  }
  if (write.kind === "entry" && write.parentId !== null && !tables.hasEntry(write.parentId)) {
    const message = `entry ${id} names the parent ${write.parentId}, which is not before it`;
    return { reason: "missing_parent", message };
  }
  if (write.kind === "usage" && !isFiniteSum(addUsage(tables.usageSum, write.amounts))) {
    const message = `with usage row ${id} the sum of the ledger exceeds what a number holds`;
    return { reason: "sum_too_large", message };
  }
  return undefined;
}

/** Tables of a new session: a lane `main` at the root (spec §2.8). */
export function initialTables({ createdAt }: SessionMetadata): Tables {
  const tables = new Tables();
  tables.apply(storeAdmitted(INITIAL_WRITES, 1, createdAt));
  return tables;
}

/**
 * Tables of copied rows, given in any order. Times may fall, as those of an import do.
 * @throws NotJson; Corruption with the reason of `placementIssue`, or `malformed_row`
 */
export function tablesOf(contents: SessionContents): Tables {
  const { entries, registers, usage } = admitJson(contents);
  for (const row of entries) refuseForm(entryFormIssue({ ...row }) ?? countIssue(row, "timestamp"), row);
  for (const row of usage) refuseForm(usageFormIssue({ ...row }), row);
  for (const row of registers) refuseForm(registerFormIssue({ op: "set", ...row }), row);
  const tables = new Tables();
  for (const write of storedRows({ entries, registers, usage })) {
    const issue = placementIssue(write, tables);
    if (issue !== undefined) throw new Corruption(issue.reason, issue.message);
    tables.applyOne(write);
  }
  return tables;
}

/**
 * Holds copied rows against everything that must hold between the rows of a session. @throws as `tablesOf`
 */
export function checkContents(contents: SessionContents): void {
  tablesOf(contents);
}

function refuseForm(issue: string | undefined, row: Entry | UsageRow | Register): void {
  const found = issue ?? countIssue(row, "seq") ?? ("kind" in row ? "a row has no kind" : undefined);
  if (found === undefined) return;
  throw new Corruption("malformed_row", found, {
    subject: "id" in row ? row.id : `${row.namespace}/${row.key}`,
  });
}

function countIssue(row: object, name: "seq" | "timestamp"): string | undefined {
  if (isCount((row as Record<string, unknown>)[name])) return undefined;
  return `the ${name} of a stored row is a whole number`;
}
