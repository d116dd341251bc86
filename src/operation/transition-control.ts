/**
 * The first cancellation of an operation: control changes, the phase stays (spec §4.6).
 *
 * What was queued for a run is drained: the ids move from the inbox into control, and their `pending.entry` registers
 * live on until the terminal transaction, so that whoever asks later gets the same payloads. Deferred writes stay in the
 * inbox and are applied before the end. A structural operation has no queues, and nothing to drain.
 *
 * Order of writes: state.
 */
import { admitJson } from "../foundation/index.ts";
import type { Control, OperationState } from "../model/index.ts";
import { type CurrentOperation, IllegalTransition, stateWrite, type Transition } from "./current.ts";

/** The control of an operation that nobody has cancelled: shared by all, and admitted once, so that no commit copies it. */
export const RUNNING: Control = admitJson({ status: "running" } as const);

/** Somebody asked to cancel. `requestedAt` in Unix ms. */
export interface CancelRequested {
  readonly kind: "cancel_requested";
  readonly requestedAt: number;
}

/** running → cancel_requested. */
export function requestCancellation(current: CurrentOperation, event: CancelRequested): Transition {
  const { operation, state, leafId } = current;
  if (state.control.status !== "running") throw new IllegalTransition(event.kind, state);
  const next = cancelled(state, event.requestedAt);
  return { writes: [stateWrite(operation.operationId, next)], state: next, leafId };
}

/** The ids that a cancellation drained; undefined while control is running. */
export function drainedIds({ control }: OperationState): Drained | undefined {
  if (control.status === "running") return undefined;
  return { steer: control.drainedSteer, followUp: control.drainedFollowUp };
}

interface Drained {
  readonly steer: readonly string[];
  readonly followUp: readonly string[];
}

function cancelled(state: OperationState, requestedAt: number): OperationState {
  const control = (drainedSteer: string[], drainedFollowUp: string[]): Control => ({
    status: "cancel_requested",
    requestedAt,
    drainedSteer,
    drainedFollowUp,
  });
  if (state.kind !== "run") return { ...state, control: control([], []) };
  const { steer, followUp, writes } = state.inbox;
  return { ...state, control: control(steer, followUp), inbox: { steer: [], followUp: [], writes } };
}
