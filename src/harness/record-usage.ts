/**
 * Usage that a caller books: a reconciliation, never a provider's report (spec §1.6, §5.1). It is a row of its own, marked
 * as an adjustment.
 *
 * Decided here: what is no usage, and what is booked for an entry that does not exist, is refused like every other input
 * that cannot be stored.
 */
import { err, NotJson, ok, type Result } from "../foundation/index.ts";
import { type JsonValue, type Usage, type UsageRowDraft, validateUsageRowDraft } from "../model/index.ts";
import { detachJson } from "../session/index.ts";
import type { Environment } from "./environment.ts";
import { InvalidMessage } from "./errors.ts";

export interface RecordUsageOptions {
  /** The entry that the cost belongs to. */
  readonly entryId?: string;
  readonly details?: JsonValue;
}

/** The row of an adjustment, or why it cannot be booked. */
export async function adjustment(
  { session }: Environment,
  lane: string,
  usage: Usage,
  { entryId, details }: RecordUsageOptions,
): Promise<Result<UsageRowDraft, InvalidMessage>> {
  const refused = (reason: string) =>
    err(new InvalidMessage({ message: `the usage cannot be booked: ${reason}`, lane, reason }));
  try {
    const row = detachJson({
      id: session.idGenerator.next(),
      usage,
      adjustment: true,
      ...(entryId === undefined ? {} : { entryId }),
      ...(details === undefined ? {} : { details }),
    });
    const issue = validateUsageRowDraft(row);
    if (issue) return refused(`${issue.path} should be ${issue.expected}, and is ${issue.found}`);
    if (entryId === undefined || (await session.getEntries([entryId])).has(entryId)) return ok(row);
    return refused(`there is no entry ${entryId} in this session`);
  } catch (error) {
    if (error instanceof NotJson) return refused(error.message);
    throw error;
  }
}
