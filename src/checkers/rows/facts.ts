/**
 * Facts that many rows share: what a transition leaves alone, and what its control must be.
 */
import { jsonEquals } from "../../foundation/index.ts";
import { fact } from "./row.ts";
import { runAfter, runBefore } from "./site.ts";

type RunPart = "control" | "inbox" | "latestAssistantEntryId" | "phase";

/** The run keeps everything but what the row names; settings are captured at acceptance and never change. */
export function keepsAllBut(...parts: readonly RunPart[]) {
  const kept = (["control", "inbox", "latestAssistantEntryId", "phase"] as const).filter(
    (part) => !parts.includes(part),
  );
  return fact(`the run keeps its settings, ${kept.join(", ")}`, (site) => {
    const before = runBefore(site);
    const after = runAfter(site);
    if (before === undefined || after === undefined) return false;
    for (const part of kept) if (!jsonEquals(before[part], after[part])) return false;
    return jsonEquals(before.settings, after.settings);
  });
}

/** No cancellation is durable. */
export const isRunning = fact("control is running", ({ before }) => before?.control.status === "running");

/** A cancellation is durable. */
export const isCancelled = fact(
  "control is cancel_requested",
  ({ before }) => before?.control.status === "cancel_requested",
);

/** The transaction opens no other door: at most one operation, and it belongs to the lane. */
export const isOnItsLane = fact(
  "the operation is the lane's current one",
  ({ operationId, laneBefore }) =>
    operationId !== undefined && laneBefore?.currentOperationId === operationId,
);
