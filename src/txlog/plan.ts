/**
 * What recovery can do next (spec §5.1), and what it must know of the running process to decide.
 */

import type { ReplayPolicy, StepKind } from "./state.ts";
import type { SyntheticReason } from "./synthetic.ts";
import type { StoredError } from "./values.ts";

/** A tool as this process declares it. Model output has no say in it. */
export interface DeclaredTool {
  readonly name: string;
  readonly definitionDigest: string;
  readonly replay: ReplayPolicy;
  /** Implementation, authority and semantics in one text, such as `builtin:read:v1`. */
  readonly replayKey: string;
}

/** The process that recovers. */
export interface CurrentProcess {
  readonly configurationDigest: string;
  readonly environmentIdentity: string;
  readonly tools: readonly DeclaredTool[];
}

/** Why recovery stops without writing anything. Restoring what differs is the way out, or an abort. */
export type BlockedReason =
  | "configuration_changed"
  | "environment_changed"
  | "replay_declaration_changed"
  | "attempts_exhausted";

/** One synthetic answer; the ids are there if and only if the call was started. */
export interface SyntheticResult {
  readonly assistantEntryId: string;
  readonly toolIndex: number;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly reason: SyntheticReason;
  readonly content: string;
  readonly toolStartedId?: string;
  readonly resultEntryId?: string;
}

export interface FinishPlan {
  readonly type: "finish";
  readonly outcome: "completed" | "aborted" | "failed";
  readonly completion?: "normal" | "truncated";
  readonly finalEntryId?: string;
  readonly error?: StoredError;
}

export interface StartStepPlan {
  readonly type: "startStep";
  readonly stepKind: StepKind;
  readonly attempt: 1 | 2;
  /** With attempt 2 only. */
  readonly stepId?: string;
  readonly contextThroughEntryId: string;
}

export interface StartToolPlan {
  readonly type: "startTool";
  readonly mode: "start" | "replay";
  readonly assistantEntryId: string;
  readonly toolIndex: number;
  /** With a replay only: the intent that is already on disk. */
  readonly toolStartedId?: string;
  readonly toolName: string;
  readonly arguments: { readonly [key: string]: unknown };
}

export interface AppendSyntheticPlan {
  readonly type: "appendSynthetic";
  readonly results: readonly SyntheticResult[];
}

export interface CloseAttemptPlan {
  readonly type: "closeAttempt";
  readonly error: StoredError;
}

export interface BlockedPlan {
  readonly type: "blocked";
  readonly reason: BlockedReason;
}

export type RecoveryPlan =
  | FinishPlan
  | StartStepPlan
  | StartToolPlan
  | AppendSyntheticPlan
  | CloseAttemptPlan
  | BlockedPlan;

export const ABORTED_ERROR: StoredError = { code: "aborted", message: "Operation aborted" };
export const MODEL_ERROR: StoredError = { code: "model_error", message: "provider request failed" };
/** An answer that neither says anything nor asks for a tool cannot complete a run, and no step may follow it. */
export const EMPTY_ANSWER_ERROR: StoredError = {
  code: "empty_answer",
  message: "the model stopped without an answer",
};
