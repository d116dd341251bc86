/**
 * The second step of validity: registers against the entries and registers that they name (spec §3.3).
 */
import type { Entry, PendingEntry, SettledAssistantMessage, ToolBatch } from "../model/index.ts";
import { toolCallsOf } from "./classification.ts";
import { refuse } from "./corruption-reasons.ts";
import type { EntryReference, References } from "./references.ts";
import type { AgreeingRegisters } from "./validity.ts";

/** Registers and entries that were read for the references of a lane. */
export interface LoadedReferences {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly pending: ReadonlyMap<string, PendingEntry>;
  readonly toolArguments: { has(key: string): boolean };
  readonly preparations: ReadonlyMap<string, { readonly kind: "compaction" | "branch_summary" }>;
}

/** Holds the registers of a lane against what they name. @throws Corruption */
export function checkReferences(
  agreeing: AgreeingRegisters,
  references: References,
  loaded: LoadedReferences,
): void {
  for (const reference of references.entries) checkEntry(reference, agreeing, loaded);
  const claimed = new Set(references.queued.map(({ id }) => id));
  for (const { id, place } of references.reserved) {
    if (claimed.has(id)) {
      refuse("reserved_id_repeated", "entry", id, `${place} reserves this id, and another place has it too`);
    }
    claimed.add(id);
    if (loaded.entries.has(id)) {
      refuse("reserved_id_taken", "entry", id, `${place} reserves this id, and an entry exists under it`);
    }
  }
  for (const { id, place, isMessage } of references.queued) {
    const pending = loaded.pending.get(id);
    if (pending === undefined)
      refuse("pending_entry_missing", "pending.entry", id, `${place} queues this id`);
    if (isMessage && pending.type !== "message") {
      refuse(
        "pending_entry_of_wrong_kind",
        "pending.entry",
        id,
        `${place} queues messages, not ${pending.type}`,
      );
    }
    if (loaded.entries.has(id)) {
      refuse("queued_id_placed", "entry", id, `${place} queues this id, and it has its place already`);
    }
  }
  for (const key of references.toolArguments) {
    if (!loaded.toolArguments.has(key)) {
      refuse("tool_arguments_missing", "op.tool_args", key, "the call was started with stored arguments");
    }
  }
  for (const { key, kind } of references.preparations) {
    const preparation = loaded.preparations.get(key);
    if (preparation === undefined) {
      refuse("preparation_missing", "op.preparation", key, "structural work has a preparation");
    }
    if (preparation.kind !== kind) {
      refuse("preparation_of_wrong_kind", "op.preparation", key, `${kind} expected, not ${preparation.kind}`);
    }
  }
  const batch = batchOf(agreeing);
  if (batch) checkCalls(batch, agreeing, loaded);
}

function checkEntry(reference: EntryReference, agreeing: AgreeingRegisters, loaded: LoadedReferences): void {
  const { id, place, expected } = reference;
  const entry = loaded.entries.get(id);
  if (entry === undefined) refuse("entry_missing", "entry", id, `${place} names it, and it does not exist`);
  switch (expected.kind) {
    case "any":
      return;
    case "message":
      if (entry.type !== "message") {
        refuse("entry_of_wrong_kind", "entry", id, `${place} names a message, and it is a ${entry.type}`);
      }
      return;
    case "assistant":
    case "deferred_assistant":
    case "calling_assistant": {
      const message = assistantOf(entry);
      if (message === undefined || !isOf(expected.kind, message)) {
        refuse(
          "entry_of_wrong_kind",
          "entry",
          id,
          `${place} names a response, and it is another kind of entry`,
        );
      }
      if (message.stopReason === "aborted" && agreeing.open?.state.control.status === "running") {
        const found = `${place} is aborted, and no cancellation of the operation is durable`;
        refuse("aborted_while_running", "entry", id, found);
      }
      return;
    }
    case "tool_result":
      if (entry.type !== "message" || entry.message.role !== "toolResult") {
        refuse("entry_of_wrong_kind", "entry", id, `${place} names a tool result, and it is no such entry`);
      }
      if ((entry.terminate === true) !== expected.terminate) {
        const found = `${place}: the entry and the state disagree whether it terminates`;
        refuse("tool_result_mismatch", "entry", id, found);
      }
      return;
  }
}

function isOf(
  kind: "assistant" | "deferred_assistant" | "calling_assistant",
  { stopReason, deferred }: SettledAssistantMessage,
): boolean {
  if (kind === "assistant") return true;
  if (kind === "deferred_assistant") return stopReason === "deferred" && deferred !== undefined;
  return stopReason === "toolUse" || stopReason === "stop" || stopReason === "length";
}

/** The calls of a batch against the response that asked for them, and its results against the calls. */
function checkCalls(batch: ToolBatch, agreeing: AgreeingRegisters, loaded: LoadedReferences): void {
  const assistant = assistantOf(loaded.entries.get(batch.assistantEntryId));
  const sources = assistant === undefined ? [] : toolCallsOf(assistant);
  if (sources.length !== batch.calls.length) {
    const found = `the response asks for ${sources.length} calls, the batch holds ${batch.calls.length}`;
    refuse("tool_calls_incomplete", "op.state", agreeing.open?.operation.operationId ?? "", found);
  }
  for (const call of batch.calls) {
    if (call.status !== "completed") continue;
    const entry = loaded.entries.get(call.resultEntryId);
    const message =
      entry?.type === "message" && entry.message.role === "toolResult" ? entry.message : undefined;
    const source = sources[call.sourceIndex];
    if (message?.toolCallId !== source?.id || message?.toolName !== source?.name) {
      const found = `it answers call ${message?.toolCallId}, and call ${source?.id} stands there`;
      refuse("tool_result_mismatch", "entry", call.resultEntryId, found);
    }
  }
}

function batchOf({ open }: AgreeingRegisters): ToolBatch | undefined {
  return open?.state.kind === "run" && open.state.phase.kind === "tools" ? open.state.phase.batch : undefined;
}

function assistantOf(entry: Entry | undefined): SettledAssistantMessage | undefined {
  if (entry?.type !== "message" || entry.message.role !== "assistant") return undefined;
  return entry.message as SettledAssistantMessage;
}
