/**
 * Everything outside that a session's effects can touch: the model provider and the tools.
 *
 * The driver is given a world at construction and reaches out through it alone, so the two functions here are the whole
 * list of effects. An outcome that is known is returned, a failure too; a rejection says that nobody knows the outcome,
 * and the driver stops there as a process that died would.
 */
import type { ConfigurationSnapshot } from "./configuration.ts";
import type { Message, StopReason } from "./messages.ts";
import type { StepKind, Usage } from "./state.ts";
import type { StoredError } from "./values.ts";

/** One request to the model; its intent, a `stepAttempt`, is on disk. */
export interface ModelRequest {
  readonly operationId: string;
  readonly stepId: string;
  readonly attemptId: string;
  readonly attempt: number;
  /** `compaction` asks for a summary of the messages. */
  readonly purpose: StepKind;
  readonly messages: readonly Message[];
  readonly configuration: ConfigurationSnapshot;
}

export interface RequestedCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote it. */
  readonly arguments: string;
}

export type ModelReply =
  | {
      readonly type: "answer";
      readonly stopReason: StopReason;
      readonly content: string | null;
      readonly toolCalls?: readonly RequestedCall[];
      readonly usage?: Usage;
    }
  | { readonly type: "failed"; readonly error: StoredError; readonly usage?: Usage };

/** One execution of a tool; its intent, a `toolStarted`, is on disk. */
export interface ToolExecution {
  readonly operationId: string;
  readonly toolStartedId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: { readonly [key: string]: unknown };
  /** `replay`: the tool is declared safe, and may have run under this intent before. */
  readonly mode: "start" | "replay";
}

export interface ToolOutcome {
  readonly type: "success" | "error";
  readonly content: string;
  readonly usage?: Usage;
}

export interface World {
  request(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
  execute(execution: ToolExecution, signal: AbortSignal): Promise<ToolOutcome>;
}
