/**
 * Commits that a caller brings and no operation: they pass the barrier of the harness like all others, and not its
 * effects. What the application wrote wrongly is refused before it reaches the store, and is no fault of the harness.
 */
import { NotJson } from "../foundation/index.ts";
import type { CommitResult, Transaction } from "../model/index.ts";
import { InvalidWrite } from "../session/index.ts";
import type { Environment } from "./environment.ts";
import { publish } from "./publish.ts";
import { inWriteSpan } from "./telemetry.ts";

/** A commit that belongs to no operation, of a lane where the writes do not tell. What the session refuses never reached the store. */
export async function commitOutside(
  environment: Environment,
  transaction: Transaction,
  lane?: string,
): Promise<CommitResult> {
  const { session, lifecycle } = environment;
  let refusal: unknown;
  const result = await lifecycle.commit(async () => {
    try {
      return await inWriteSpan(environment.telemetry, transaction.writes, () => session.commit(transaction));
    } catch (error) {
      if (!(error instanceof InvalidWrite || error instanceof NotJson)) throw error;
      refusal = error;
      return undefined;
    }
  });
  if (result === undefined) throw refusal;
  await publish(environment, transaction.writes, result, lane);
  return result;
}
