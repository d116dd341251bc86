/**
 * What a transaction touches: the lanes and operations whose invariants it may have broken.
 */
import type { RegisterNamespace, RegisterValues, Write } from "../../model/index.ts";
import type { StoreModel } from "../store-model.ts";

/** Ids of operations that the transaction writes any register of. */
export function touchedOperations(writes: readonly Write[]): ReadonlySet<string> {
  return sortedOut(writes).operations;
}

/** Names of lanes that the transaction writes the state of. */
export function touchedLanes(writes: readonly Write[]): ReadonlySet<string> {
  return sortedOut(writes).lanes;
}

/** The values that the transaction sets in a namespace, in order. */
export function setsOf<N extends RegisterNamespace>(
  writes: readonly Write[],
  namespace: N,
): readonly SetValue<N>[] {
  return (sortedOut(writes).sets.get(namespace) ?? NONE) as readonly SetValue<N>[];
}

/** The keys that the transaction deletes in a namespace. */
export function deletesOf(writes: readonly Write[], namespace: RegisterNamespace): readonly string[] {
  return sortedOut(writes).deletes.get(namespace) ?? NONE;
}

interface SetValue<N extends RegisterNamespace> {
  readonly key: string;
  readonly value: RegisterValues[N];
}

interface SortedOut {
  readonly sets: ReadonlyMap<string, readonly { key: string; value: unknown }[]>;
  readonly deletes: ReadonlyMap<string, readonly string[]>;
  readonly operations: ReadonlySet<string>;
  readonly lanes: ReadonlySet<string>;
}

const NONE: readonly never[] = [];

/** Many invariants ask one transaction in a row, so the last one is remembered. */
let last: { readonly writes: readonly Write[]; readonly found: SortedOut } | undefined;

function sortedOut(writes: readonly Write[]): SortedOut {
  if (last?.writes !== writes) last = { writes, found: sortOut(writes) };
  return last.found;
}

function sortOut(writes: readonly Write[]): SortedOut {
  const sets = new Map<string, { key: string; value: unknown }[]>();
  const deletes = new Map<string, string[]>();
  const operations = new Set<string>();
  const lanes = new Set<string>();
  for (const write of writes) {
    if (write.kind !== "register") continue;
    const { namespace, key } = write;
    if (write.op === "delete") add(deletes, namespace, key);
    else add(sets, namespace, write);
    if (namespace === "op.meta" || namespace === "op.state") operations.add(key);
    else if (namespace === "lane.state") lanes.add(key);
    else if (namespace === "op.tool_args" || namespace === "op.preparation") {
      operations.add(key.slice(0, Math.max(0, key.indexOf(":"))));
    }
  }
  return { sets, deletes, operations, lanes };
}

function add<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}

/** Whether a lane names the operation as its current one. */
export function isOpen(operationId: string, model: StoreModel): boolean {
  for (const { value } of model.registers("lane.state")) {
    if (value.currentOperationId === operationId) return true;
  }
  return false;
}
