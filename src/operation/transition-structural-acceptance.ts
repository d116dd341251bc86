/**
 * Acceptance of structural operations: a compaction or a navigation becomes the open operation of an idle lane
 * (spec §3.6).
 *
 * Order of writes: `op.preparation`, `op.meta`, `op.state`, `lane.state`. Nothing is appended and nothing moves.
 */
import type {
  CompactionState,
  DurableStructuralPreparation,
  LaneState,
  NavigationState,
  Operation,
  Write,
} from "../model/index.ts";
import { stateWrite, type Transition } from "./current.ts";
import { RUNNING } from "./transition-control.ts";
import { preparationWrite } from "./transition-structural.ts";

/** What acceptance needs of the lane and of the process. */
export interface StructuralAcceptance {
  readonly lane: string;
  readonly laneState: LaneState;
  readonly leafId: string | null;
  readonly operationId: string;
  readonly startedAt: number;
}

/** What a navigation is asked for; a summary needs a target and the preparation of the branch that is left. */
export type NavigationRequest = { readonly label?: string | undefined } & (
  | { readonly summarize: false; readonly targetId: string | null }
  | {
      readonly summarize: true;
      readonly targetId: string;
      readonly customInstructions?: string | undefined;
      readonly taskId: string;
      readonly preparation: DurableStructuralPreparation;
    }
);

export interface AcceptedStructural extends Transition {
  readonly operation: Operation;
  readonly state: CompactionState | NavigationState;
}

/** Accepts a compaction with a preparation that is not empty. */
export function acceptCompaction(
  acceptance: StructuralAcceptance,
  request: {
    readonly taskId: string;
    readonly preparation: DurableStructuralPreparation;
    readonly customInstructions?: string | undefined;
  },
): AcceptedStructural {
  const asked = instructions(request.customInstructions);
  const state: CompactionState = {
    kind: "compaction",
    control: RUNNING,
    ...asked,
    structural: { taskId: request.taskId, status: "deciding" },
  };
  return accepted(acceptance, { kind: "compaction", ...asked }, state, request);
}

/** Accepts a navigation whose target was validated. */
export function acceptNavigation(
  acceptance: StructuralAcceptance,
  request: NavigationRequest,
): AcceptedStructural {
  const label = request.label === undefined ? {} : { label: request.label };
  if (!request.summarize) {
    const { targetId } = request;
    const intent = { kind: "navigation", targetId, summarize: false, ...label } as const;
    const phase = { kind: "ready_to_commit" } as const;
    return accepted(acceptance, intent, { ...intent, control: RUNNING, phase });
  }
  const { targetId, taskId } = request;
  const asked = { ...label, ...instructions(request.customInstructions) };
  const intent = { kind: "navigation", targetId, summarize: true, ...asked } as const;
  const phase = { kind: "summary", structural: { taskId, status: "deciding" } } as const;
  return accepted(acceptance, intent, { ...intent, control: RUNNING, phase }, request);
}

function instructions(customInstructions: string | undefined): { customInstructions?: string } {
  return customInstructions === undefined ? {} : { customInstructions };
}

function accepted(
  { lane, laneState, leafId, operationId, startedAt }: StructuralAcceptance,
  intent: Operation["intent"],
  state: CompactionState | NavigationState,
  prepared?: { readonly taskId: string; readonly preparation: DurableStructuralPreparation },
): AcceptedStructural {
  const operation: Operation = { operationId, lane, sourceLeafId: leafId, startedAt, intent };
  const writes: Write[] = [
    ...(prepared ? [preparationWrite(operationId, prepared.taskId, prepared.preparation)] : []),
    { kind: "register", op: "set", namespace: "op.meta", key: operationId, value: operation },
    stateWrite(operationId, state),
    {
      kind: "register",
      op: "set",
      namespace: "lane.state",
      key: lane,
      value: { ...laneState, currentOperationId: operationId },
    },
  ];
  return { writes, operation, state, leafId };
}
