/**
 * Cancelling the open operation of a lane: the durable half of `abort` (spec §4.6). One job on the mutation line, with
 * at most one commit; the lane raises the signal after it, so whoever sees the signal can rely on the cancellation.
 *
 * The payloads that were drained stay in their registers until the operation ends. So every later call answers with the
 * same ones, and writes nothing.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import type { AgentMessage } from "../model/index.ts";
import { type CurrentOperation, drainedIds } from "../operation/index.ts";
import type { Environment } from "./environment.ts";
import { NoActiveOperation } from "./errors.ts";
import { commitEvent, openOperation } from "./queues.ts";

/** An operation whose cancellation is durable. */
export interface Cancelled {
  /** As it is stored now. */
  readonly current: CurrentOperation;
  /** Whether this call cancelled it. */
  readonly isFirst: boolean;
  readonly steer: AgentMessage[];
  readonly followUp: AgentMessage[];
}

/** See the module header. */
export async function cancelOperation(
  environment: Environment,
  lane: string,
): Promise<Result<Cancelled, NoActiveOperation>> {
  const found = await openOperation(environment, lane);
  if (found === undefined) {
    const message = `lane ${lane} has no open operation; getLastResult tells how the latest one ended`;
    return err(new NoActiveOperation({ message, lane }));
  }
  const isFirst = found.state.control.status === "running";
  if (isFirst) {
    await commitEvent(environment, found, {
      kind: "cancel_requested",
      requestedAt: environment.clock.now(),
    });
  }
  const current = isFirst ? await openOperation(environment, lane) : found;
  const drained = current && drainedIds(current.state);
  if (current === undefined || drained === undefined) {
    throw new Error(
      `the cancellation of operation ${found.operation.operationId} was committed and is not stored`,
    );
  }
  const [steer, followUp] = await Promise.all([
    payloadsOf(environment, drained.steer),
    payloadsOf(environment, drained.followUp),
  ]);
  return ok({ current, isFirst, steer, followUp });
}

async function payloadsOf({ session }: Environment, ids: readonly string[]): Promise<AgentMessage[]> {
  const registers = await Promise.all(ids.map((id) => session.getRegister("pending.entry", id)));
  return registers.flatMap((register) =>
    register?.value.type === "message" ? [register.value.payload] : [],
  );
}
