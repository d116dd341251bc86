/**
 * Usage of one provider attempt or tool, and the rows of the append-only ledger (spec §1.6).
 *
 * Token counts and costs carry no lower bound: a reconciliation row (`adjustment: true`) may take back what an
 * earlier row charged.
 */
import { type Static, Type } from "typebox";
import { JsonValueSchema } from "./json.ts";
import { closed, NonEmptyString, SafeCount } from "./schema.ts";

const Amount = Type.Number();

/** Cost in USD, per kind of token and in total. */
export const UsageCostSchema = Type.Object({
  input: Amount,
  output: Amount,
  cacheRead: Amount,
  cacheWrite: Amount,
  total: Amount,
});
export type UsageCost = Static<typeof UsageCostSchema>;

/**
 * Tokens and cost. `input` excludes cached tokens; `totalTokens` = input + output + cacheRead + cacheWrite;
 * `cacheWrite1h` is a part of `cacheWrite`, `reasoning` a part of `output`.
 */
export const UsageSchema = Type.Object({
  input: Amount,
  output: Amount,
  cacheRead: Amount,
  cacheWrite: Amount,
  cacheWrite1h: Type.Optional(Amount),
  reasoning: Type.Optional(Amount),
  totalTokens: Amount,
  cost: UsageCostSchema,
});
export type Usage = Static<typeof UsageSchema>;

const usageRowProperties = {
  /** UUIDv7, from the same id space as entries (spec §1.2). */
  id: NonEmptyString,
  usage: UsageSchema,
  /** The entry that this cost belongs to, when there is one. */
  entryId: Type.Optional(NonEmptyString),
  /** True for a reconciliation by the caller, false for a report by a provider, tool or hook. */
  adjustment: Type.Boolean(),
  details: Type.Optional(JsonValueSchema),
};

/** A ledger row as it is written: storage assigns `seq` at commit. */
export const UsageRowDraftSchema = closed(usageRowProperties);
export type UsageRowDraft = Static<typeof UsageRowDraftSchema>;

/** One row of the ledger, written once and never changed (spec §1.1, §1.6). */
export const UsageRowSchema = closed({ ...usageRowProperties, seq: SafeCount });
export type UsageRow = Static<typeof UsageRowSchema>;

/** The usage of a synthetic settlement: every required field 0, every optional field absent. */
export function zeroUsage(): Usage {
  return {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
}

/** Sum, field by field; an optional field appears in the sum if either side has it. */
export function addUsage(left: Usage, right: Usage): Usage {
  const sum: Usage = {
    input: left.input + right.input,
    output: left.output + right.output,
    cacheRead: left.cacheRead + right.cacheRead,
    cacheWrite: left.cacheWrite + right.cacheWrite,
    totalTokens: left.totalTokens + right.totalTokens,
    cost: {
      input: left.cost.input + right.cost.input,
      output: left.cost.output + right.cost.output,
      cacheRead: left.cost.cacheRead + right.cost.cacheRead,
      cacheWrite: left.cost.cacheWrite + right.cost.cacheWrite,
      total: left.cost.total + right.cost.total,
    },
  };
  const cacheWrite1h = addOptional(left.cacheWrite1h, right.cacheWrite1h);
  const reasoning = addOptional(left.reasoning, right.reasoning);
  if (cacheWrite1h !== undefined) sum.cacheWrite1h = cacheWrite1h;
  if (reasoning !== undefined) sum.reasoning = reasoning;
  return sum;
}

function addOptional(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined) return right;
  return right === undefined ? left : left + right;
}
