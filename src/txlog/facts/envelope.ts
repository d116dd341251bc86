/**
 * One fact: its envelope, then the rules of its kind (spec §3.1).
 *
 * The checks of this room return the code of the first rule that does not hold, in the order of the specification,
 * because the order decides which code a file gets. They change the tables as they go; a refused fact refuses its whole
 * transaction, and what was changed is taken back or thrown away with the tables. The rules of a kind return what the id
 * of the fact names from now on.
 */
import { type FactNamed, isFact, type Named } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import type { SessionTables } from "../tables.ts";
import { isCount, isObject, isUuid, type JsonObject } from "../values.ts";
import { applyEntry } from "./entry.ts";
import { applyRecord } from "./record.ts";
import { applyUsage } from "./usage.ts";

/** A fact whose envelope holds. */
export interface Fact extends JsonObject {
  readonly seq: number;
  readonly id: string;
  readonly timestamp: number;
}

export interface FactRefusal {
  readonly code: FactCode;
  /** As it was found; absent if it could not be read. */
  readonly seq?: number;
}

export function applyFact(tables: SessionTables, value: unknown): FactRefusal | undefined {
  if (!isObject(value) || !isCount(value.seq, 1)) return { code: "INVALID_FACT" };
  const code = applyNumbered(tables, value as Fact);
  return code === undefined ? undefined : { code, seq: value.seq };
}

function applyNumbered(tables: SessionTables, fact: Fact): FactCode | undefined {
  if (fact.seq !== tables.nextSeq) return "SEQ_MISMATCH";
  if (!isUuid(fact.id) || !isCount(fact.timestamp)) return "INVALID_FACT";
  const held = tables.names.get(fact.id);
  if (isFact(held)) return "DUPLICATE_ID";
  const named = applyKind(tables, fact, held);
  if (typeof named === "string") return named;
  // An id that was free may have been given away by the fact itself; one that was held may be taken by an entry alone, and
  // the rules of entries have seen to whom it was promised.
  const isFresh = tables.name(fact.id, named);
  if (!isFresh && (held === undefined || fact.kind !== "entry")) return "DUPLICATE_ID";
  tables.nextSeq = fact.seq + 1;
  return undefined;
}

function applyKind(tables: SessionTables, fact: Fact, held: Named | undefined): FactNamed | FactCode {
  switch (fact.kind) {
    case "entry":
      return applyEntry(tables, fact, held);
    case "record":
      return applyRecord(tables, fact);
    case "usage":
      return applyUsage(tables, fact);
    default:
      return "INVALID_FACT";
  }
}
