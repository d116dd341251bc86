/**
 * Validity: may this stored state be executed at all (spec §3.3)?
 *
 * Only the current registers of a lane and what they name directly are looked at; there is no history to audit. Each
 * check refuses a state that no transition of this runtime can leave, with a `Corruption` whose reason is one of
 * `CORRUPTION_REASONS` (`corruption-reasons.ts`). The form of each value was checked before, when it was decoded.
 *
 * Two steps, because the second needs reads: `checkRegisters` holds the registers against each other,
 * `checkReferences` (`validity-references.ts`) holds them against the entries and registers that they name.
 *
 * Stricter than the letter of the specification in one place: a reserved id that exists as an entry while its state
 * says that it is still open is refused. Settlement is one transaction, so no correct writer leaves that, and going
 * on would run an effect whose result could never be stored.
 */
import type {
  LaneConfiguration,
  LaneState,
  Operation,
  OperationState,
  RunPhase,
  ToolBatch,
} from "../model/index.ts";
import { refuse } from "./corruption-reasons.ts";
import { checkCompactionPhase, checkStructuralOperation } from "./validity-structural.ts";

/** The registers of one lane, as read. `undefined`: the register does not exist. */
export interface LaneRegisters {
  readonly lane: string;
  readonly laneState: LaneState;
  readonly leafId: string | null | undefined;
  readonly configuration: LaneConfiguration | undefined;
  readonly operation: Operation | undefined;
  readonly state: OperationState | undefined;
}

/** Registers that agree with each other. */
export interface AgreeingRegisters {
  readonly leafId: string | null;
  readonly configuration: LaneConfiguration | undefined;
  readonly open: { readonly operation: Operation; readonly state: OperationState } | undefined;
}

/** Holds the registers of a lane against each other. @throws Corruption */
export function checkRegisters(registers: LaneRegisters): AgreeingRegisters {
  const { lane, laneState, leafId, configuration, operation, state } = registers;
  const operationId = laneState.currentOperationId;
  if (leafId === undefined)
    refuse("lane_leaf_missing", "lane.leaf", lane, "the lane has a state but no leaf");
  // Only a fresh main may be without: it has not been attached to a harness yet, so it never ran anything.
  if (configuration === undefined && (lane !== "main" || operationId !== null)) {
    refuse("lane_config_missing", "lane.config", lane, "the lane has no configuration");
  }
  if (operationId === null) return { leafId, configuration, open: undefined };
  if (operation === undefined) {
    refuse("operation_meta_missing", "op.meta", operationId, `lane ${lane} names this operation`);
  }
  if (state === undefined) {
    refuse("operation_state_missing", "op.state", operationId, `lane ${lane} names this operation`);
  }
  checkOperation(lane, operationId, operation, state, leafId);
  return { leafId, configuration, open: { operation, state } };
}

function checkOperation(
  lane: string,
  operationId: string,
  operation: Operation,
  state: OperationState,
  leafId: string | null,
): void {
  if (operation.operationId !== operationId) {
    refuse("operation_id_mismatch", "op.meta", operationId, `it holds operation ${operation.operationId}`);
  }
  if (operation.lane !== lane) {
    refuse(
      "operation_lane_mismatch",
      "op.meta",
      operationId,
      `it belongs to lane ${operation.lane}, not ${lane}`,
    );
  }
  if (operation.intent.kind !== state.kind) {
    const found = `the intent is a ${operation.intent.kind}, the state that of a ${state.kind}`;
    refuse("operation_kind_mismatch", "op.state", operationId, found);
  }
  const queued = queuedIds(state);
  if (new Set(queued).size !== queued.length) {
    refuse("queued_id_repeated", "op.state", operationId, "an id is queued twice");
  }
  switch (state.kind) {
    case "run":
      checkRunPhase(operationId, state.phase);
      break;
    case "compaction":
    case "navigation":
      checkStructuralOperation(operation, state, leafId);
      break;
  }
}

function checkRunPhase(operationId: string, phase: RunPhase): void {
  if (phase.kind === "assistant") {
    const { generation } = phase;
    const attempt = generation.status === "effect_pending" ? generation.attempt : generation.nextAttempt;
    const { maxAttempts } = generation.context.retryPolicy;
    if (attempt > maxAttempts) {
      refuse(
        "attempt_beyond_policy",
        "op.state",
        operationId,
        `attempt ${attempt} of at most ${maxAttempts}`,
      );
    }
  }
  if (phase.kind === "compaction") checkCompactionPhase(operationId, phase);
  if (phase.kind === "tools") checkBatch(operationId, phase.batch);
}

/** What can be said of a batch without its response: order, uniqueness, and that something is left to do. */
function checkBatch(operationId: string, { calls }: ToolBatch): void {
  let isOpen = false;
  for (const [position, call] of calls.entries()) {
    if (call.sourceIndex !== position) {
      const found = `call ${call.sourceIndex} stands at position ${position}`;
      refuse("tool_calls_incomplete", "op.state", operationId, found);
    }
    if (call.status !== "completed") isOpen = true;
    else if (isOpen) {
      const found = `call ${position} is completed before an earlier one`;
      refuse("tool_calls_out_of_order", "op.state", operationId, found);
    }
  }
  if (!isOpen) refuse("tool_batch_finished", "op.state", operationId, "no call of the batch is open");
  if (new Set(calls.map(({ resultEntryId }) => resultEntryId)).size !== calls.length) {
    refuse("result_id_repeated", "op.state", operationId, "two calls share a result id");
  }
}

function queuedIds(state: OperationState): string[] {
  const { control } = state;
  const drained =
    control.status === "cancel_requested" ? [...control.drainedSteer, ...control.drainedFollowUp] : [];
  if (state.kind !== "run") return drained;
  return [...state.inbox.steer, ...state.inbox.followUp, ...state.inbox.writes, ...drained];
}
