/**
 * The end of an operation by somebody else (spec §4.9): the terminal transaction of the open operation, committed past
 * its drive, as an administrator's tool would. It stands on the mutation line of the lane, like every other change.
 */
import { restoreLanes } from "../../harness/index.ts";
import { transition } from "../../operation/index.ts";
import { MAIN_LANE, type Session } from "../../session/index.ts";

/** Ends the open operation of `main` as aborted; answers whether there was one. */
export async function endFromOutside(session: Session): Promise<boolean> {
  const found = (await restoreLanes(session)).find(({ lane }) => lane === MAIN_LANE);
  const current = found?.current;
  if (found === undefined || current === undefined) return false;
  const { operationId } = current.operation;
  const keysOf = async (namespace: "op.tool_args" | "op.preparation") =>
    (await session.listRegisters(namespace, `${operationId}:`)).map(({ key }) => key);
  const reads = {
    laneState: found.laneState,
    argumentKeys: await keysOf("op.tool_args"),
    preparationKeys: await keysOf("op.preparation"),
  };
  const { writes } = transition(current, { kind: "finished", outcome: { kind: "aborted" }, reads });
  await session.commit({ writes });
  return true;
}
