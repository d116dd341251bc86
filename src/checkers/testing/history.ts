/**
 * Right histories for the tests of checkers, written by hand: what a harness that keeps every promise would have
 * committed and done. Tests take one and break it.
 *
 * Each method writes one row of the specification's tables, from the state that the session is in, and records the
 * event and the step. Nothing here asks the state machine of the house: these are the tables once more, as examples.
 */

import type { ScriptedUsage, TimelineEvent, WorldRow } from "../../faults/index.ts";
import { BoundaryCounter, REQUEST_LABEL, TIMER_LABEL, TOOL_LABEL } from "../../faults/index.ts";
import { createIdGenerator, seededRandom, VIRTUAL_EPOCH_MS, VirtualClock } from "../../foundation/index.ts";
import {
  type AssistantMessage,
  type EntryDraft,
  type JsonObject,
  type LaneConfiguration,
  type LaneLastResult,
  type LaneState,
  type Operation,
  type OperationError,
  type OperationState,
  type RunState,
  type StopReason,
  type ToolCall,
  type ToolResultMessage,
  type Usage,
  type Write,
  zeroUsage,
} from "../../model/index.ts";
import type { SessionDump } from "../../storage/index.ts";
import { viewOf } from "../canonical-view.ts";
import type { View } from "../contract.ts";
import type { HarnessCommit } from "../harness-commit.ts";
import { StoreModel } from "../store-model.ts";

/** One transaction of a history, with the session before it. */
export interface Step {
  readonly label: string;
  readonly before: StoreModel;
  readonly writes: readonly Write[];
  /** Index of its event in `events`. */
  readonly at: number;
}

export interface CallScript {
  readonly id: string;
  readonly name: string;
  readonly args?: JsonObject;
}

export interface HistoryOptions {
  readonly maxAttempts?: number;
  readonly toolExecution?: "sequential" | "parallel";
}

export const CONFIGURATION: LaneConfiguration = {
  model: { provider: "scripted", modelId: "model" },
  thinkingLevel: "off",
  activeToolNames: ["read", "delete"],
};

/** See the module header. */
export class History {
  readonly steps: Step[] = [];
  readonly events: TimelineEvent[];
  readonly rows: WorldRow[];
  readonly clock: VirtualClock;
  model: StoreModel;
  #options: HistoryOptions;
  #ids;
  #counter = new BoundaryCounter();
  #seq = 2;
  #life = 0;

  constructor(options: HistoryOptions = {}, from?: History) {
    this.#options = options;
    this.clock = new VirtualClock(from?.clock.now());
    this.model = from?.model.fork() ?? StoreModel.fresh();
    this.events = [...(from?.events ?? [])];
    this.rows = [...(from?.rows ?? [])];
    this.steps = [...(from?.steps ?? [])];
    this.#seq = from === undefined ? 2 : from.#seq;
    this.#life = from === undefined ? 0 : from.#life;
    this.#ids = createIdGenerator(this.clock, seededRandom(7, this.events.length));
    if (from === undefined) this.#push({ kind: "boot", incarnation: 0 });
  }

  /** A copy that goes on by itself: the walk until a cut. */
  fork(): History {
    return new History(this.#options, this);
  }

  /** Death, and the next life. */
  crash(at = "somewhere"): this {
    this.#push({ kind: "crash", at });
    this.#life++;
    this.#counter = new BoundaryCounter();
    this.#push({ kind: "boot", incarnation: this.#life });
    return this;
  }

  id(leader?: string): string {
    return leader === undefined
      ? this.#ids.next()
      : this.#ids.next(Number.parseInt(leader.slice(0, 8) + leader.slice(9, 13), 16));
  }

  /** Commits any writes under a label. */
  commit(label: string, writes: readonly Write[]): this {
    const at = this.events.length;
    this.steps.push({ label, before: this.model.fork(), writes, at });
    const firstSeq = this.#seq + 1;
    const seqs = writes.map((_, index) => firstSeq + index);
    this.#seq += writes.length;
    const boundary = this.#counter.next("commit", label);
    const result = { firstSeq, seqs, timestamp: this.clock.now() };
    const after = this.model.fork();
    after.apply(writes, result);
    const payload: HarnessCommit = { writes, result, stats: after.stats };
    this.#push({ kind: "commit", boundary, payload });
    return this;
  }

  effect(row: WorldRow): this {
    this.rows.push(row);
    const boundary = this.#counter.next("effect", row.kind === "request" ? REQUEST_LABEL : TOOL_LABEL);
    this.#push({ kind: "effect", boundary, row });
    return this;
  }

  timer(delayMs: number): this {
    this.#push({ kind: "timer", boundary: this.#counter.next("effect", TIMER_LABEL), delayMs });
    this.clock.step(delayMs);
    return this;
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
        toolExecution: this.#options.toolExecution ?? "parallel",
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
            retryPolicy: { maxAttempts: this.#options.maxAttempts ?? 1, baseDelayMs: 1000 },
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

  /** Overwrites the operation's state, alone. */
  state(label: string, next: OperationState): this {
    return this.commit(label, [set("op.state", this.operationId, next)]);
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

  entry(id: string, message: Extract<EntryDraft, { type: "message" }>["message"], terminate?: true): Write {
    return {
      kind: "entry",
      entry: {
        id,
        parentId: this.leaf,
        type: "message",
        message,
        ...(terminate === undefined ? {} : { terminate }),
      },
    };
  }

  get leaf(): string | null {
    return this.model.value("lane.leaf", "main") ?? null;
  }

  get lane(): LaneState {
    return present(this.model.value("lane.state", "main"));
  }

  get operationId(): string {
    return present(this.lane.currentOperationId);
  }

  get run(): RunState {
    const state = present(this.model.value("op.state", this.operationId));
    if (state.kind !== "run") throw new Error("no run");
    return state;
  }

  get generation() {
    const { phase } = this.run;
    if (phase.kind !== "assistant") throw new Error("no generation");
    return phase.generation;
  }

  get pending() {
    const { generation } = this;
    if (generation.status !== "effect_pending") throw new Error("no pending request");
    return generation;
  }

  get batch() {
    const { phase } = this.run;
    if (phase.kind !== "tools") throw new Error("no batch");
    return phase.batch;
  }

  get ownedPending(): readonly string[] {
    const { inbox, control } = this.run;
    const drained = control.status === "running" ? [] : [...control.drainedSteer, ...control.drainedFollowUp];
    return [...inbox.steer, ...inbox.followUp, ...inbox.writes, ...drained];
  }

  get finalAssistant() {
    const { latestAssistantEntryId } = this.run;
    return latestAssistantEntryId === null ? {} : { finalAssistantEntryId: latestAssistantEntryId };
  }

  withCall(index: number, call: ToolCall): RunState {
    const calls = this.batch.calls.map((other, place) => (place === index ? call : other));
    return { ...this.run, phase: { kind: "tools", batch: { ...this.batch, calls } } };
  }

  /** The session as a store would dump it. */
  dump(): SessionDump {
    const { model } = this;
    const namespaces = ["lane.config", "lane.lastResult", "lane.leaf", "lane.state", "op.meta"] as const;
    const others = ["op.preparation", "op.state", "op.tool_args", "pending.entry"] as const;
    return {
      metadata: { id: "session", createdAt: VIRTUAL_EPOCH_MS, storageVersion: 1 },
      entries: [...model.entries()],
      registers: [...namespaces, ...others].flatMap((namespace) =>
        model.registers(namespace).sort((left, right) => left.seq - right.seq),
      ),
      usage: [...model.usageRows()],
      stats: model.stats,
    };
  }

  view(): View {
    return viewOf(this.dump(), { downtimes: [] });
  }

  #push(event: TimelineEvent): void {
    this.events.push(event);
    this.model.observe(event);
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

/** One millionth of a dollar a token, as the scripted world bills. */
export function usageOf(input: number, output: number): Usage {
  const usd = (tokens: number) => tokens / 1_000_000;
  return {
    ...zeroUsage(),
    input,
    output,
    totalTokens: input + output,
    cost: { ...zeroUsage().cost, input: usd(input), output: usd(output), total: usd(input + output) },
  };
}

export function assistant(stopReason: StopReason, rest: Partial<AssistantMessage>): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: "scripted",
    provider: "scripted",
    model: "model",
    usage: zeroUsage(),
    stopReason,
    timestamp: 0,
    ...rest,
  };
}

/** Sets a register. */
export function set<N extends Extract<Write, { op: "set" }>["namespace"]>(
  namespace: N,
  key: string,
  value: Extract<Write, { op: "set"; namespace: N }>["value"],
): Write {
  return { kind: "register", op: "set", namespace, key, value } as Write;
}

/** Deletes a register. */
export function drop(namespace: Extract<Write, { op: "delete" }>["namespace"], key: string): Write {
  return { kind: "register", op: "delete", namespace, key };
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

function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error("the history has no such value");
  return value;
}

function at<Item>(items: readonly Item[], index: number): Item {
  return present(items[index]);
}
