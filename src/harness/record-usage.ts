/**
 * Usage that a caller books: a reconciliation, never a provider's report (spec §1.6, §5.1). It is a row of its own, marked
 * as an adjustment.
 */
import { type JsonValue, type Usage, type UsageRowDraft, validateUsageRowDraft } from "../model/index.ts";
import { detachJson } from "../session/index.ts";
import type { Environment } from "./environment.ts";

export interface RecordUsageOptions {
  /** The entry that the cost belongs to. */
  readonly entryId?: string;
  readonly details?: JsonValue;
}

/** The row of an adjustment. @throws TypeError for what is no usage, or names no entry */
export async function adjustment(
  { session, lifecycle }: Environment,
  usage: Usage,
  { entryId, details }: RecordUsageOptions,
): Promise<UsageRowDraft> {
  lifecycle.admit();
  const row = detachJson({
    id: session.idGenerator.next(),
    usage,
    adjustment: true,
    ...(entryId === undefined ? {} : { entryId }),
    ...(details === undefined ? {} : { details }),
  });
  const issue = validateUsageRowDraft(row);
  if (issue) throw new TypeError(`${issue.path}: expected ${issue.expected}, found ${issue.found}`);
  if (entryId !== undefined && !(await session.getEntries([entryId])).has(entryId)) {
    throw new TypeError(`there is no entry ${entryId} in this session`);
  }
  return row;
}
