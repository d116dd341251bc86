/** The one way of a harness to its store: through the barrier, and what was committed is published. */
import type { CommitResult, Transaction, Usage, Write } from "../model/index.ts";
import type { Environment } from "./environment.ts";
import { inWriteSpan, type TelemetryContext } from "./telemetry.ts";

/** Commits, within a span of `within`, and publishes. A failure is the fault of the whole harness. */
export async function commitAndPublish(
  environment: Environment,
  transaction: Transaction,
  within: TelemetryContext = environment.telemetry,
): Promise<CommitResult> {
  const { session, lifecycle } = environment;
  const result = await inWriteSpan(within, transaction.writes, () =>
    lifecycle.commit(() => session.commit(transaction)),
  );
  await publish(environment, transaction.writes, result);
  return result;
}

/** Publishes what was committed; with its lane, where the writes do not tell. */
export async function publish(
  { session, publisher }: Environment,
  writes: readonly Write[],
  result: CommitResult,
  lane?: string,
): Promise<void> {
  let totals: Usage | undefined;
  if (publisher.wantsTotals(writes)) {
    // A store that was closed under the read has its ledger; who reopens it reads the totals there.
    totals = await session.getStats().then(
      ({ usage }) => usage,
      () => undefined,
    );
  }
  publisher.committed(writes, result, { totals, lane });
}
