/**
 * Tool calls: clearance, execution, result (spec §3.8, §5.7, message-types §9).
 *
 * *Clearance* decides whether a call may be executed and with which arguments: look-up by name, `prepareArguments`,
 * validation against the tool's schema (copy, coerce primitives, check). It may be repeated after a crash, so it
 * touches nothing outside. *Execution* is the effect. The *result* is what is stored of it.
 *
 * Failures before execution are results, not exceptions: the model reads them and goes on. So is a result that cannot
 * be stored (`tool-call.ts`).
 */
import type {
  AgentToolResult,
  AgentToolUpdate,
  JsonObject,
  ToolBatch,
  ToolCallContent,
  ToolReplay,
  ToolResultMessage,
  Usage,
} from "../model/index.ts";
import {
  errorToolResult,
  type SyntheticToolReason,
  syntheticToolText,
  type ToolSettled,
} from "../operation/index.ts";
import type { BoundBatch, DriveState } from "./drive-state.ts";
import type { ToolExecution, ToolPlan } from "./effects.ts";
import type { AnyTool, Environment, ToolRegistry } from "./environment.ts";
import { messageOf, readOr } from "./errors.ts";
import { type AdmitMessage, copyJson, preparedArguments, returnedResult } from "./tool-call.ts";

/** A call that may be executed, or the reason why it gets a result without. */
export type Clearance =
  | { readonly kind: "cleared"; readonly arguments: JsonObject; readonly replay: ToolReplay }
  | { readonly kind: "refused"; readonly reason: SyntheticToolReason };

/** Clears one call of a batch; see the module header. */
export function clearCall(tools: ToolRegistry, batch: ToolBatch, call: ToolCallContent): Clearance {
  const { activeToolNames } = batch.configuration;
  const tool = activeToolNames.includes(call.name) ? tools.get(call.name) : undefined;
  if (tool === undefined) return { kind: "refused", reason: { kind: "unknown_tool", activeToolNames } };
  const checked = preparedArguments(tool, call.arguments);
  if ("refusal" in checked) {
    return { kind: "refused", reason: { kind: "arguments_refused", message: checked.refusal } };
  }
  return { kind: "cleared", arguments: checked.arguments, replay: tool.replay ?? "never" };
}

/** A call before which nothing stands any more: its tool, and the context of its batch. */
export interface ReadyCall {
  readonly kind: "ready";
  readonly tool: AnyTool;
  readonly context: unknown;
}

/** Makes a call whose intent is durable ready, or says why it is not executed. Waits for the application's context. */
export async function readyCall(
  environment: Environment,
  live: DriveState,
  plan: ToolPlan,
): Promise<ReadyCall | Extract<ToolExecution, { kind: "synthetic" }>> {
  const { batch, call } = plan;
  const bound = boundBatch(environment, live, batch.assistantEntryId);
  const tool = bound.tools.get(call.name);
  if (tool === undefined) {
    const { activeToolNames } = batch.configuration;
    return { kind: "synthetic", reason: { kind: "unknown_tool", activeToolNames } };
  }
  bound.context ??= environment.resolveToolContext();
  const context = await bound.context;
  if (live.controller.signal.aborted) return notExecuted(plan);
  return { kind: "ready", tool, context };
}

/** Executes a call that is ready. Never rejects because of the tool. */
export async function executeTool(
  { tool, context }: ReadyCall,
  { call, arguments: stored }: ToolPlan,
  signal: AbortSignal,
  onUpdate: AgentToolUpdate,
): Promise<ToolExecution> {
  let isSettled = false;
  const update: AgentToolUpdate = (partial) => {
    if (!isSettled) onUpdate(partial);
  };
  try {
    // A copy: a tool may change what it is given, and what is stored must stay what was committed.
    const result: unknown = await tool.execute(call.id, copyJson(stored), signal, update, context);
    return { kind: "returned", result };
  } catch (error) {
    return { kind: "threw", message: messageOf(error) };
  } finally {
    isSettled = true;
  }
}

/** The end of a call that a cancellation kept from being executed by this process. */
export function notExecuted({ isReplay }: ToolPlan): Extract<ToolExecution, { kind: "synthetic" }> {
  return { kind: "synthetic", reason: { kind: isReplay ? "interrupted" : "cancelled" } };
}

/** The event that settles a call, with the message as it is stored. */
export function toolSettlement(
  environment: Environment,
  settled: {
    readonly call: ToolCallContent;
    readonly sourceIndex: number;
    readonly execution: ToolExecution;
    readonly isCutShort: boolean;
    readonly argumentKeys: readonly string[];
  },
): ToolSettled {
  const { call, sourceIndex, execution, isCutShort, argumentKeys } = settled;
  const { message, usage, ...result } = resultOf(environment, call, execution);
  const terminate = result.terminate && !isCutShort;
  const row = usage && { id: environment.session.idGenerator.next(), usage };
  return {
    kind: "tool_settled",
    sourceIndex,
    message,
    terminate,
    argumentKeys,
    ...(row ? { usage: row } : {}),
  };
}

/** A result as it is stored. */
export interface StoredResult {
  readonly message: ToolResultMessage;
  readonly terminate: boolean;
  readonly usage?: Usage;
}

/** What is stored of an execution. */
export function resultOf(
  environment: Environment,
  call: ToolCallContent,
  execution: ToolExecution,
): StoredResult {
  const nowMs = environment.clock.now();
  const failed = (text: string): StoredResult => ({
    message: errorToolResult(call, text, nowMs),
    terminate: false,
  });
  switch (execution.kind) {
    case "synthetic": {
      const { reason } = execution;
      const terminate = reason.kind === "blocked" && reason.terminate;
      return { ...failed(syntheticToolText(call.name, reason)), terminate };
    }
    case "finalized":
      return execution.result;
    case "threw":
      return failed(execution.message);
    case "returned": {
      const admit: AdmitMessage = (message) => environment.session.admitMessage(message);
      const message = returnedResult(admit, call, execution.result, nowMs);
      const result = execution.result as Partial<AgentToolResult> | null;
      const asked = readOr(() => result?.terminate) === true;
      const { usage } = message;
      return { message, terminate: asked && !message.isError, ...(usage === undefined ? {} : { usage }) };
    }
  }
}

/** What a batch is bound to; tools that are set later are for later batches. */
export function boundBatch({ tools }: Environment, live: DriveState, assistantEntryId: string): BoundBatch {
  if (live.toolBatch?.assistantEntryId !== assistantEntryId) {
    live.toolBatch = { assistantEntryId, tools, context: undefined };
  }
  return live.toolBatch;
}
