/**
 * Right histories for the tests of checkers, written by hand: what a harness that keeps every promise would have
 * committed and done. Tests take one and break it.
 *
 * Each method writes one row of the specification's tables, from the state that the session is in, and records the
 * event and the step. Nothing here asks the state machine of the house: these are the tables once more, as examples.
 */

import type { ScriptedUsage } from "../../faults/index.ts";
import {
  type AssistantMessage,
  type JsonObject,
  type LaneLastResult,
  type Operation,
  type OperationError,
  type RunState,
  type ToolCall,
  type ToolResultMessage,
  type Usage,
  type Write,
  zeroUsage,
} from "../../model/index.ts";
import { at, SessionHistory } from "./session-history.ts";
import { assistant, CONFIGURATION, drop, set, usageOf } from "./values.ts";

export interface CallScript {
  readonly id: string;
  readonly name: string;
  readonly args?: JsonObject;
}

/** See the module header. */
export class History extends SessionHistory {
  /** A copy that goes on by itself: the walk until a cut. */
  fork(): History {
    return new History(this.options, this);
  }

  seed(): this {
    return this.commit("lane.seed", [set("lane.config", "main", CONFIGURATION)]);
  }

  prompt(text = "go"): this {
    const operationId = this.id();
    const entryId = this.id();
    const lane = this.lane;
    const state: RunState = {
      kind: "run",
      control: { status: "running" },
      settings: {
        compaction: { enabled: true, reserveTokens: 100, keepRecentTokens: 100 },
        steeringMode: "one-at-a-time",
        followUpMode: "one-at-a-time",
        toolExecution: this.options.toolExecution ?? "parallel",
      },
      phase: {
        kind: "checkpoint",
        continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
        triggerEntryId: entryId,
        skipInboxOnce: true,
      },
      inbox: { steer: [], followUp: [], writes: [] },
      latestAssistantEntryId: null,
    };
    const meta: Operation = {
      operationId,
      lane: "main",
      sourceLeafId: this.leaf,
      startedAt: this.clock.now(),
      intent: { kind: "run", promptEntryIds: [entryId] },
    };
    return this.commit("acceptance.prompt", [
      this.entry(entryId, { role: "user", content: text, timestamp: this.clock.now() }),
      set("lane.leaf", "main", entryId),
      set("op.meta", operationId, meta),
      set("op.state", operationId, state),
      set("lane.state", "main", { ...lane, currentOperationId: operationId }),
    ]);
  }

  ready(): this {
    const { phase } = this.run;
    if (phase.kind !== "checkpoint" || phase.continuation.kind !== "need_assistant")
      throw new Error("no checkpoint");
    return this.state("generation.ready", {
      ...this.run,
      phase: {
        kind: "assistant",
        generation: {
          status: "ready",
          context: {
            stepId: this.id(),
            triggerEntryId: phase.triggerEntryId,
            configuration: CONFIGURATION,
            streamOptions: {},
            retryPolicy: { maxAttempts: this.options.maxAttempts ?? 1, baseDelayMs: 1000 },
            overflowRecoveryUsed: phase.continuation.overflowRecoveryUsed,
          },
          nextAttempt: 1,
        },
      },
    });
  }

  intent(): this {
    const generation = this.generation;
    if (generation.status !== "ready") throw new Error("not ready");
    return this.state("generation.intent", {
      ...this.run,
      phase: {
        kind: "assistant",
        generation: {
          status: "effect_pending",
          context: generation.context,
          attempt: generation.nextAttempt,
          responseEntryId: this.id(),
          usageId: this.id(),
          intendedOutputLimit: 1000,
          contextWindow: 10_000,
        },
      },
    });
  }

  request(turn: number, ask = 1, usage: ScriptedUsage = { input: 10, output: 5 }): this {
    return this.effect({ kind: "request", turn, ask, usage });
  }

  settleTools(calls: readonly CallScript[], usage = usageOf(10, 5)): this {
    const { pending } = this;
    const state: RunState = {
      ...this.run,
      latestAssistantEntryId: pending.responseEntryId,
      phase: {
        kind: "tools",
        batch: {
          assistantEntryId: pending.responseEntryId,
          configuration: CONFIGURATION,
          turnId: pending.context.stepId,
          calls: calls.map((_, sourceIndex) => ({
            status: "planned",
            sourceIndex,
            resultEntryId: this.id(pending.responseEntryId),
          })),
        },
      },
    };
    const blocks = calls.map(({ id, name, args }) => ({
      type: "toolCall" as const,
      id,
      name,
      arguments: args ?? {},
    }));
    return this.settle("generation.settle.tools", assistant("toolUse", { usage, content: blocks }), state);
  }

  settleFinish(text = "done", usage = usageOf(10, 5)): this {
    const { pending } = this;
    return this.settle(
      "generation.settle.finish",
      assistant("stop", { usage, content: [{ type: "text", text }] }),
      {
        ...this.run,
        latestAssistantEntryId: pending.responseEntryId,
        phase: finishing(pending.responseEntryId),
      },
    );
  }

  settleAborted(usage = zeroUsage()): this {
    const { pending } = this;
    return this.settle(
      "generation.settle.aborted",
      assistant("aborted", { usage, errorMessage: "aborted" }),
      {
        ...this.run,
        latestAssistantEntryId: pending.responseEntryId,
        phase: finishing(pending.responseEntryId),
      },
    );
  }

  settleRetry(errorMessage = "overloaded", usage = usageOf(10, 0)): this {
    const { pending } = this;
    const delayMs = pending.context.retryPolicy.baseDelayMs * 2 ** (pending.attempt - 1);
    return this.settle("generation.settle.retry", assistant("error", { usage, errorMessage }), {
      ...this.run,
      latestAssistantEntryId: pending.responseEntryId,
      phase: {
        kind: "assistant",
        generation: {
          status: "retry_wait",
          context: pending.context,
          nextAttempt: pending.attempt + 1,
          notBefore: this.clock.now() + delayMs,
          errorMessage,
        },
      },
    });
  }

  settleFailed(label = "generation.settle.failed", errorMessage = "bad key", usage = usageOf(10, 0)): this {
    const { pending } = this;
    return this.settle(label, assistant("error", { usage, errorMessage }), {
      ...this.run,
      latestAssistantEntryId: pending.responseEntryId,
      phase: {
        kind: "failure_drain",
        error: { code: "provider_error", message: errorMessage },
        provenance: { kind: "response", entryId: pending.responseEntryId },
      },
    });
  }

  settleSynthetic(): this {
    return this.settleFailed("generation.settle.synthetic-error", "outcome unknown", zeroUsage());
  }

  retryDue(): this {
    const generation = this.generation;
    if (generation.status !== "retry_wait") throw new Error("not waiting");
    const { context, nextAttempt } = generation;
    return this.state("generation.retry-due", {
      ...this.run,
      phase: { kind: "assistant", generation: { status: "ready", context, nextAttempt } },
    });
  }

  retryUnknown(): this {
    const { context, attempt } = this.pending;
    return this.state("generation.retry-unknown", {
      ...this.run,
      phase: { kind: "assistant", generation: { status: "ready", context, nextAttempt: attempt + 1 } },
    });
  }

  toolIntent(index: number, replay: "never" | "safe", args: JsonObject = {}): this {
    const { batch, operationId } = this;
    const call = at(batch.calls, index);
    return this.commit("tool.intent", [
      set("op.tool_args", `${operationId}:${batch.turnId}:${call.sourceIndex}`, args),
      set("op.state", operationId, this.withCall(index, { ...pick(call), status: "effect_pending", replay })),
    ]);
  }

  execute(callId: string, tool: string, argumentsText = "{}"): this {
    return this.effect({ kind: "tool", tool, callId, argumentsText });
  }

  /** Settles a pending call with a real result. */
  toolSettle(index: number, options: { terminate?: true; usage?: Usage; isError?: boolean } = {}): this {
    return this.result("tool.settle", index, options);
  }

  /** Settles a planned call that never started. */
  toolSynthetic(index: number): this {
    return this.result("tool.synthetic", index, { isError: true });
  }

  /** Settles a restored call that is not run again. */
  toolInterrupted(index: number): this {
    return this.result("tool.interrupted", index, { isError: true, text: "interrupted" });
  }

  result(
    label: string,
    index: number,
    {
      terminate,
      usage,
      isError = false,
      text = "result",
    }: { terminate?: true; usage?: Usage; isError?: boolean; text?: string },
  ): this {
    const { batch, operationId } = this;
    const call = at(batch.calls, index);
    const assistantEntry = this.model.entry(batch.assistantEntryId);
    if (assistantEntry?.type !== "message" || assistantEntry.message.role !== "assistant")
      throw new Error("no R");
    const block = at(
      assistantEntry.message.content.filter(({ type }) => type === "toolCall"),
      index,
    );
    if (block.type !== "toolCall") throw new Error("no call");
    const message: ToolResultMessage = {
      role: "toolResult",
      toolCallId: block.id,
      toolName: block.name,
      content: [{ type: "text", text }],
      details: {},
      ...(usage === undefined ? {} : { usage }),
      isError,
      timestamp: this.clock.now(),
    };
    const completed: ToolCall = { ...pick(call), status: "completed", terminate: terminate === true };
    const isLast = batch.calls.every((other, place) => place === index || other.status === "completed");
    const writes: Write[] = [
      this.entry(call.resultEntryId, message, terminate),
      set("lane.leaf", "main", call.resultEntryId),
    ];
    if (usage !== undefined) {
      writes.push({
        kind: "usage",
        row: { id: this.id(), entryId: call.resultEntryId, adjustment: false, usage },
      });
    }
    if (!isLast) {
      return this.commit(label, [...writes, set("op.state", operationId, this.withCall(index, completed))]);
    }
    for (const { key } of this.model.registers("op.tool_args", `${operationId}:${batch.turnId}:`)) {
      writes.push(drop("op.tool_args", key));
    }
    const isFinishing = batch.calls.every((other, place) =>
      place === index ? completed.terminate : other.status === "completed" && other.terminate,
    );
    const next: RunState = {
      ...this.run,
      phase: isFinishing
        ? {
            kind: "checkpoint",
            continuation: { kind: "may_finish", includeFinalAssistant: false },
            triggerEntryId: call.resultEntryId,
          }
        : {
            kind: "checkpoint",
            continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
            triggerEntryId: call.resultEntryId,
            skipInboxOnce: true,
          },
    };
    return this.commit(`${label}.last`, [...writes, set("op.state", operationId, next)]);
  }

  abort(): this {
    return this.state("abort", {
      ...this.run,
      inbox: { ...this.run.inbox, steer: [], followUp: [] },
      control: {
        status: "cancel_requested",
        requestedAt: this.clock.now(),
        drainedSteer: this.run.inbox.steer,
        drainedFollowUp: this.run.inbox.followUp,
      },
    });
  }

  completed(): this {
    const { phase, latestAssistantEntryId } = this.run;
    if (phase.kind !== "checkpoint" || phase.continuation.kind !== "may_finish")
      throw new Error("may not finish");
    return this.terminal("terminal.completed", {
      outcome: "completed",
      ...(phase.continuation.includeFinalAssistant && latestAssistantEntryId !== null
        ? { runCompletion: "assistant", finalAssistantEntryId: latestAssistantEntryId }
        : { runCompletion: "terminated_tools" }),
    });
  }

  failed(): this {
    const { phase } = this.run;
    if (phase.kind !== "failure_drain") throw new Error("did not fail");
    return this.terminal("terminal.failed", {
      outcome: "failed",
      error: phase.error,
      ...this.finalAssistant,
    });
  }

  aborted(): this {
    return this.terminal("terminal.aborted", { outcome: "aborted", ...this.finalAssistant });
  }

  terminal(label: string, rest: TerminalPart): this {
    const { operationId, model } = this;
    const result = { operationId, kind: "run", leafId: this.leaf, ...rest } as LaneLastResult;
    const prefix = `${operationId}:`;
    return this.commit(label, [
      drop("op.meta", operationId),
      drop("op.state", operationId),
      ...model.registers("op.tool_args", prefix).map(({ key }) => drop("op.tool_args", key)),
      ...model.registers("op.preparation", prefix).map(({ key }) => drop("op.preparation", key)),
      ...this.ownedPending.map((id) => drop("pending.entry", id)),
      set("lane.lastResult", "main", result),
      set("lane.state", "main", { ...this.lane, currentOperationId: null }),
    ]);
  }

  settle(label: string, message: AssistantMessage, next: RunState): this {
    const { pending } = this;
    return this.commit(label, [
      this.entry(pending.responseEntryId, { ...message, timestamp: this.clock.now() }),
      set("lane.leaf", "main", pending.responseEntryId),
      {
        kind: "usage",
        row: {
          id: pending.usageId,
          entryId: pending.responseEntryId,
          adjustment: false,
          usage: message.usage,
        },
      },
      set("op.state", this.operationId, next),
    ]);
  }

  withCall(index: number, call: ToolCall): RunState {
    const calls = this.batch.calls.map((other, place) => (place === index ? call : other));
    return { ...this.run, phase: { kind: "tools", batch: { ...this.batch, calls } } };
  }
}

type TerminalPart =
  | { outcome: "completed"; runCompletion: "assistant" | "terminated_tools"; finalAssistantEntryId?: string }
  | { outcome: "failed"; error: OperationError; finalAssistantEntryId?: string }
  | { outcome: "aborted"; finalAssistantEntryId?: string };

/** A run with two tools, from the first attach to its end. */
export function twoTools(history = new History()): History {
  return history
    .seed()
    .prompt()
    .ready()
    .intent()
    .request(0)
    .settleTools([
      { id: "call_1", name: "read", args: { path: "a" } },
      { id: "call_2", name: "delete", args: { path: "b" } },
    ])
    .toolIntent(0, "safe", { path: "a" })
    .toolIntent(1, "never", { path: "b" })
    .execute("call_1", "read", '{"path":"a"}')
    .execute("call_2", "delete", '{"path":"b"}')
    .toolSettle(0, { usage: usageOf(1, 1) })
    .toolSettle(1)
    .ready()
    .intent()
    .request(1)
    .settleFinish()
    .completed();
}

function finishing(triggerEntryId: string): RunState["phase"] {
  return {
    kind: "checkpoint",
    continuation: { kind: "may_finish", includeFinalAssistant: true },
    triggerEntryId,
  };
}

function pick({ sourceIndex, resultEntryId }: ToolCall) {
  return { sourceIndex, resultEntryId };
}
