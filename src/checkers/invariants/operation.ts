/**
 * The invariants of operations that a timeline can show (spec §9.1, 12 to 14, 16, 17 and 21).
 */
import { ownedPendingIds } from "../rows/site.ts";
import type { StoreModel } from "../store-model.ts";
import type { WriteForm } from "../write-form.ts";
import { type Invariant, OF_LANES, OF_OPERATIONS, ofWrites } from "./invariant.ts";
import { deletesOf, isOpen, setsOf, touchedLanes, touchedOperations } from "./touched.ts";

/** Forms by which an operation ends, and leaves its result. */
const OF_ENDS: readonly WriteForm[] = ["delete op.state", "set lane.lastResult", "delete lane.lastResult"];

export const OPERATION_INVARIANTS: readonly Invariant[] = [
  {
    number: 12,
    says: "an open lane names an operation whose op.meta and op.state exist, belong to it and agree in kind",
    after: ofWrites([...OF_OPERATIONS, ...OF_LANES], ({ writes }, model, breaks) => {
      const operations = touchedOperations(writes);
      for (const { key: lane, value } of model.registers("lane.state")) {
        const id = value.currentOperationId;
        if (id === null) continue;
        const isTouched = operations.has(id) || touchedLanes(writes).has(lane);
        if (!isTouched && !areOn(lane, operations, model)) continue;
        const meta = model.value("op.meta", id);
        const state = model.value("op.state", id);
        if (meta === undefined) breaks("no op.meta", `lane ${lane} names ${id}, which has no op.meta`);
        if (state === undefined) breaks("no op.state", `lane ${lane} names ${id}, which has no op.state`);
        if (meta !== undefined && (meta.lane !== lane || meta.operationId !== id)) {
          breaks(
            "op.meta of another lane",
            `op.meta/${id} says lane ${meta.lane}, operation ${meta.operationId}`,
          );
        }
        if (meta !== undefined && state !== undefined && meta.intent.kind !== state.kind) {
          breaks(
            "op.state of another kind",
            `op.meta/${id} is a ${meta.intent.kind}, op.state/${id} a ${state.kind}`,
          );
        }
      }
    }),
  },
  {
    number: 13,
    says: "op.* registers and owned pending.entry registers exist if and only if their operation is open",
    before: ofWrites(["delete op.state"], ({ writes }, model, breaks) => {
      for (const id of deletesOf(writes, "op.state")) {
        const owned = ownedPendingIds(model.value("op.state", id));
        const lane = model.value("op.meta", id)?.lane;
        const kept = lane === undefined ? [] : (model.value("lane.state", lane)?.pendingNextRun ?? []);
        const deleted = deletesOf(writes, "pending.entry");
        for (const key of owned) {
          if (!deleted.includes(key))
            breaks("a pending.entry is left behind", `pending.entry/${key} of ${id} is kept`);
        }
        for (const key of kept) {
          if (deleted.includes(key))
            breaks("a lane's pending.entry is deleted", `pending.entry/${key} is the lane's`);
        }
      }
    }),
    after: ofWrites([...OF_OPERATIONS, ...OF_LANES], ({ writes }, model, breaks) => {
      const operations = new Set(touchedOperations(writes));
      // A lane that lets go of its operation writes nothing of it.
      for (const { key, value } of model.registers("op.meta")) {
        if (touchedLanes(writes).has(value.lane)) operations.add(key);
      }
      for (const id of operations) {
        if (isOpen(id, model)) continue;
        for (const [namespace, count] of leftOf(id, model)) {
          if (count > 0)
            breaks(`${namespace} without an open operation`, `${count} ${namespace} of ${id} exist`);
        }
      }
      for (const lane of touchedLanes(writes)) {
        const state = model.value("lane.state", lane);
        if (state === undefined) breaks("lane.state is deleted", `lane.state/${lane} is gone`);
      }
    }),
  },
  {
    number: 14,
    says: "acceptance observes an idle lane",
    before: ofWrites(["set op.meta"], ({ writes }, model, breaks) => {
      for (const { key, value } of setsOf(writes, "op.meta")) {
        const current = model.value("lane.state", value.lane)?.currentOperationId;
        if (current === undefined)
          breaks("no such lane", `${key} is accepted on lane ${value.lane}, which is absent`);
        else if (current !== null) {
          breaks("the lane is busy", `${key} is accepted on lane ${value.lane} while ${current} is open`);
        }
      }
    }),
  },
  {
    number: 16,
    says: "only a terminal transaction makes a lane.lastResult, and every one makes it",
    before: ofWrites(OF_ENDS, ({ writes }, model, breaks) => {
      const ended = deletesOf(writes, "op.state");
      const results = setsOf(writes, "lane.lastResult");
      if (deletesOf(writes, "lane.lastResult").length > 0)
        breaks("lastResult is deleted", "lane.lastResult is deleted");
      for (const { key, value } of results) {
        const meta = model.value("op.meta", value.operationId);
        if (!ended.includes(value.operationId)) {
          breaks(
            "lastResult outside a terminal transaction",
            `a result of ${value.operationId}, which goes on`,
          );
        } else if (meta !== undefined && (meta.lane !== key || meta.intent.kind !== value.kind)) {
          breaks(
            "lastResult of another operation",
            `a ${value.kind} result on ${key} for a ${meta.intent.kind}`,
          );
        }
      }
      for (const id of ended) {
        if (!results.some(({ value }) => value.operationId === id)) {
          breaks("an operation ends without a lastResult", `${id} is deleted and leaves no result`);
        }
      }
    }),
  },
  {
    number: 17,
    says: "a lane has at most one open operation",
    after: ofWrites(["set op.meta"], ({ writes }, model, breaks) => {
      for (const { value } of setsOf(writes, "op.meta")) {
        const open = model.registers("op.meta").filter((register) => register.value.lane === value.lane);
        if (open.length > 1) {
          breaks("two open operations", `lane ${value.lane} has ${open.map(({ key }) => key).join(" and ")}`);
        }
      }
    }),
  },
  {
    number: 21,
    says: "an operation ends at most once, and nothing of it comes back",
    before: ofWrites(["set op.state", "delete op.state"], ({ writes }, model, breaks) => {
      for (const id of deletesOf(writes, "op.state")) {
        if (model.value("op.state", id) === undefined)
          breaks("a second end", `${id} ends, and has no state any more`);
      }
      const accepted = setsOf(writes, "op.meta");
      for (const { key } of setsOf(writes, "op.state")) {
        if (model.value("op.meta", key) === undefined && !accepted.some((meta) => meta.key === key))
          breaks("a state without an operation", `op.state/${key} is set, and op.meta/${key} is absent`);
      }
    }),
  },
];

/** Whether one of the operations says that it is on the lane. */
function areOn(lane: string, operations: ReadonlySet<string>, model: StoreModel): boolean {
  for (const id of operations) if (model.value("op.meta", id)?.lane === lane) return true;
  return false;
}

function leftOf(id: string, model: StoreModel): readonly (readonly [string, number])[] {
  const count = (found: unknown) => (found === undefined ? 0 : 1);
  return [
    ["op.meta", count(model.register("op.meta", id))],
    ["op.state", count(model.register("op.state", id))],
    ["op.tool_args", model.registers("op.tool_args", `${id}:`).length],
    ["op.preparation", model.registers("op.preparation", `${id}:`).length],
  ];
}
