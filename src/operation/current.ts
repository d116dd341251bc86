/**
 * What a transition extends: the open operation of a lane, as last read or committed (spec §4.1).
 *
 * A `CurrentOperation` is a value. Nobody changes one; a commit gives the next. The seqs are those of the registers
 * that hold the values: a conditional commit goes through only while the register still carries the seq (spec §3.4),
 * so a state is identified by when it was written and never by what it contains.
 */
import type {
  LaneConfiguration,
  Operation,
  OperationState,
  RegisterSetWrite,
  RunPhase,
  RunState,
  StructuralDecision,
  Write,
} from "../model/index.ts";

/** The open operation of a lane with the registers that its next transition builds on. */
export interface CurrentOperation<State extends OperationState = OperationState> {
  readonly operation: Operation;
  readonly state: State;
  /** Seq of `op.state/{operationId}`. */
  readonly stateSeq: number;
  readonly leafId: string | null;
  readonly configuration: LaneConfiguration;
  /** Seq of `lane.config/{lane}`. */
  readonly configurationSeq: number;
}

/** The next state of an operation and, in order, the writes of the one commit that makes it true. */
export interface Transition {
  readonly writes: Write[];
  /** Undefined after the terminal transaction: an operation that has ended has no state. */
  readonly state: OperationState | undefined;
  /** The lane's leaf afterwards. */
  readonly leafId: string | null;
}

/** A transition was asked for that the state does not have: a defect of the program, never of the data. */
export class IllegalTransition extends Error {
  override readonly name = "IllegalTransition";
  readonly code = "ILLEGAL_TRANSITION";

  constructor(event: string, state: OperationState) {
    super(`${event} is no transition of ${describeState(state)}`);
  }
}

/** A state in a few words: `run: tools`, `run: assistant effect_pending`. */
export function describeState(state: OperationState): string {
  if (state.kind === "compaction") return `compaction: ${describeDecision(state.structural)}`;
  if (state.kind === "navigation") {
    return `navigation: ${state.summarize ? describeDecision(state.phase.structural) : state.phase.kind}`;
  }
  const { phase } = state;
  switch (phase.kind) {
    case "compaction":
      return `run: ${phase.reason} compaction ${describeDecision(phase.structural)}`;
    case "assistant":
      return `run: assistant ${phase.generation.status}`;
    case "deferred":
      return `run: deferred ${phase.deferred.status}`;
    case "checkpoint":
      return `run: checkpoint ${phase.continuation.kind}`;
    default:
      return `run: ${phase.kind}`;
  }
}

function describeDecision(structural: StructuralDecision): string {
  return structural.status === "deciding" ? structural.status : `summary ${structural.generation.status}`;
}

/** `S(next)`: overwrites the program counter of an operation (spec §0.7). */
export function stateWrite(operationId: string, state: OperationState): RegisterSetWrite {
  return { kind: "register", op: "set", namespace: "op.state", key: operationId, value: state };
}

/** Moves the leaf of a lane. */
export function leafWrite(lane: string, entryId: string | null): RegisterSetWrite {
  return { kind: "register", op: "set", namespace: "lane.leaf", key: lane, value: entryId };
}

/** The run state with another phase and everything else as it is. */
export function withPhase(state: RunState, phase: RunPhase): RunState {
  return { ...state, phase };
}

/** The key of the stored arguments of a call (spec §3.8). */
export function toolArgumentsKey(operationId: string, stepId: string, sourceIndex: number): string {
  return `${operationId}:${stepId}:${sourceIndex}`;
}
