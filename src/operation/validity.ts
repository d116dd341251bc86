/**
 * Validity: may this stored state be executed at all (spec §3.3)?
 *
 * Only the current registers of a lane and what they name directly are looked at; there is no history to audit. Each
 * check refuses a state that no transition of this runtime can leave, with a `Corruption` whose reason is one of
 * `CORRUPTION_REASONS` (`corruption-reasons.ts`). The form of each value was checked before, when it was decoded.
 *
 * Two steps, because the second needs reads: `checkRegisters` holds the registers against each other, and asks of the
 * state what its kind demands (`validity-run.ts`, `validity-structural.ts`); `checkReferences`
 * (`validity-references.ts`) holds them against the entries and registers that they name.
 *
 * Stricter than the letter of the specification in one place: a reserved id that exists as an entry while its state
 * says that it is still open is refused. Settlement is one transaction, so no correct writer leaves that, and going
 * on would run an effect whose result could never be stored.
 */
import type { LaneConfiguration, LaneState, Operation, OperationState } from "../model/index.ts";
import { refuse } from "./corruption-reasons.ts";
import { ownedPendingIds } from "./transition-terminal.ts";
import { checkRun } from "./validity-run.ts";
import { checkStructuralOperation } from "./validity-structural.ts";

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
  const queued = [...laneState.pendingNextRun, ...(state === undefined ? [] : ownedPendingIds(state))];
  if (new Set(queued).size !== queued.length) {
    refuse(
      "queued_id_repeated",
      "lane.state",
      lane,
      "an id is queued twice, by the lane or by its operation",
    );
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
  checkControl(operationId, state);
  switch (state.kind) {
    case "run":
      checkRun(operationId, state, leafId);
      break;
    case "compaction":
    case "navigation":
      checkStructuralOperation(operation, state, leafId);
      break;
  }
}

/** What is cancelled has drained its queues, and what has none has drained nothing. */
function checkControl(operationId: string, state: OperationState): void {
  const { control } = state;
  if (control.status === "running") return;
  if (state.kind === "run") {
    const { steer, followUp } = state.inbox;
    if (steer.length + followUp.length === 0) return;
    refuse("cancellation_mismatch", "op.state", operationId, "it is cancelled, and input is in its queues");
  }
  if (control.drainedSteer.length + control.drainedFollowUp.length === 0) return;
  const found = `it is a ${state.kind}, and input was drained from it`;
  refuse("cancellation_mismatch", "op.state", operationId, found);
}
