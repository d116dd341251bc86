/** A stored lane as the writes that a writer without any sense would have committed. */
import type { RegisterNamespace, RegisterValues, Write } from "../../model/index.ts";
import type { Stored } from "./stored-lane.ts";
import { branchPreparation, compactionPreparation } from "./structural-states.ts";

/** See the module header. */
export function writesOf({
  registers,
  entries,
  pending = [],
  toolArguments = [],
  preparations = [],
}: Stored): Write[] {
  const { lane, laneState, leafId, configuration, operation, state } = registers;
  const id = laneState.currentOperationId ?? "";
  const writes: Write[] = entries.map(({ seq: _seq, timestamp: _timestamp, ...entry }) => ({
    kind: "entry",
    entry,
  }));
  for (const [key, value] of pending) writes.push(set("pending.entry", key, value));
  for (const key of toolArguments) writes.push(set("op.tool_args", key, {}));
  for (const [key, { kind }] of preparations) {
    const value = kind === "compaction" ? compactionPreparation() : branchPreparation();
    writes.push(set("op.preparation", key, value));
  }
  if (operation) writes.push(set("op.meta", id, operation));
  if (state) writes.push(set("op.state", id, state));
  if (configuration) writes.push(set("lane.config", lane, configuration));
  // A fresh disk has a main that stands at the root.
  writes.push(
    leafId === undefined
      ? { kind: "register", op: "delete", namespace: "lane.leaf", key: lane }
      : set("lane.leaf", lane, leafId),
  );
  writes.push(set("lane.state", lane, laneState));
  return writes;
}

function set<N extends RegisterNamespace>(namespace: N, key: string, value: RegisterValues[N]): Write {
  return { kind: "register", op: "set", namespace, key, value } as Write;
}
