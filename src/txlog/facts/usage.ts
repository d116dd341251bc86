/**
 * Usage: the ledger of what requests and tools cost (spec §3.6).
 *
 * Each fact adds once, and an owner may have several. The owner's operation may be finished: a bill can come late.
 */
import { PLAIN_FACT, type PlainFact } from "../named.ts";
import type { FactCode } from "../refusal.ts";
import type { Usage } from "../state.ts";
import { referenceFault, type SessionTables } from "../tables.ts";
import { hasOnly, isCount, isObject, type JsonObject, keys } from "../values.ts";
import type { Fact } from "./envelope.ts";

export function applyUsage(tables: SessionTables, fact: Fact): PlainFact | FactCode {
  if (!hasOnly(fact, FACT_KEYS)) return "INVALID_FACT";
  const operation = tables.operation(fact.operationId);
  if (operation === undefined) return referenceFault(fact.operationId);
  const ownerFault = checkOwner(tables, operation.operationId, fact);
  if (ownerFault !== undefined) return ownerFault;
  const totals = isObject(fact.usage) ? addUsage(tables.usage, fact.usage) : undefined;
  if (totals === undefined) return "INVALID_FACT";
  tables.usage = totals;
  return PLAIN_FACT;
}

function checkOwner(tables: SessionTables, operationId: string, fact: Fact): FactCode | undefined {
  const { attemptId, toolStartedId } = fact;
  if ((attemptId === undefined) === (toolStartedId === undefined)) return "INVALID_FACT";
  if (attemptId !== undefined) {
    const attempt = tables.attempt(attemptId);
    if (attempt === undefined) return referenceFault(attemptId);
    return attempt.operationId === operationId ? undefined : "INVALID_REFERENCE";
  }
  const tool = tables.names.get(toolStartedId as string);
  if (tool?.kind !== "startedTool") return referenceFault(toolStartedId);
  return tool.run.operationId === operationId ? undefined : "INVALID_REFERENCE";
}

/** The totals with one more amount, or nothing if the amount is not closed and whole or a total would overflow. */
export function addUsage(totals: Usage, amount: JsonObject): Usage | undefined {
  if (!hasOnly(amount, USAGE_KEYS)) return undefined;
  const sum = { ...totals };
  for (const name of USAGE_NAMES) {
    const count = amount[name];
    if (!isCount(count) || totals[name] > Number.MAX_SAFE_INTEGER - count) return undefined;
    sum[name] += count;
  }
  return sum;
}

const USAGE_NAMES = ["input", "output", "cacheRead", "cacheWrite"] as const;
const USAGE_KEYS = keys(...USAGE_NAMES);
const FACT_KEYS = keys(
  "kind",
  "seq",
  "id",
  "timestamp",
  "operationId",
  "attemptId",
  "toolStartedId",
  "usage",
);
