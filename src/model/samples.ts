/**
 * One right value of every durable shape, typed. The tests of this room break them one field at a time, and the
 * tests of later rooms may start from them. Each call builds a fresh value, so that no test sees another's change.
 */
import type { Entry, EntryDraft } from "./entry.ts";
import type { LaneConfiguration, LaneLastResult } from "./lane.ts";
import type { AgentMessage, SettledAssistantMessage } from "./message.ts";
import type { Operation } from "./operation.ts";
import type { DurableStructuralPreparation } from "./preparation.ts";
import type { RegisterNamespace, RegisterValues } from "./register.ts";
import { sampleRun } from "./samples-operation-state.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "./settings.ts";
import { type UsageRow, zeroUsage } from "./usage.ts";

export function sampleConfiguration(): LaneConfiguration {
  return { model: { provider: "acme", modelId: "large" }, thinkingLevel: "off", activeToolNames: ["read"] };
}

export function sampleAssistant(
  stopReason: SettledAssistantMessage["stopReason"] = "stop",
): SettledAssistantMessage {
  return {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
      { type: "text", text: "hello" },
      { type: "toolCall", id: "call_1", name: "read", arguments: { path: "a.txt" } },
    ],
    api: "acme-messages",
    provider: "acme",
    model: "large",
    usage: zeroUsage(),
    stopReason,
    ...(stopReason === "deferred"
      ? { deferred: { provider: "acme", modelId: "large", api: "acme-messages", id: "job_1" } }
      : {}),
    timestamp: 1,
  };
}

/** One message per built-in role, and one per stop reason of an assistant. */
export function sampleMessages(): Record<string, AgentMessage> {
  return {
    "user text": { role: "user", content: "hi", timestamp: 1 },
    "user blocks": {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", data: "AAAA", mimeType: "image/png" },
      ],
      timestamp: 1,
    },
    "assistant stop": sampleAssistant("stop"),
    "assistant length": sampleAssistant("length"),
    "assistant toolUse": sampleAssistant("toolUse"),
    "assistant error": { ...sampleAssistant("error"), content: [], errorMessage: "overloaded" },
    "assistant aborted": sampleAssistant("aborted"),
    "assistant deferred": sampleAssistant("deferred"),
    toolResult: {
      role: "toolResult",
      toolCallId: "call_1",
      toolName: "read",
      content: [{ type: "text", text: "x" }],
      details: { lines: 1 },
      usage: zeroUsage(),
      isError: false,
      timestamp: 1,
    },
    bashExecution: {
      role: "bashExecution",
      command: "ls",
      output: "a",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      timestamp: 1,
    },
    custom: { role: "custom", customType: "note", content: "n", display: true, timestamp: 1 },
    branchSummary: { role: "branchSummary", summary: "s", fromId: "e_1", timestamp: 1 },
    compactionSummary: { role: "compactionSummary", summary: "s", tokensBefore: 10, timestamp: 1 },
  };
}

/** One entry per type. */
export function sampleEntries(): { [Type in Entry["type"]]: Extract<Entry, { type: Type }> } {
  const placed = { id: "e_2", parentId: "e_1", seq: 7, timestamp: 1000 };
  return {
    message: { ...placed, type: "message", message: sampleAssistant(), terminate: true },
    compaction: {
      ...placed,
      type: "compaction",
      summary: "s",
      retainedTail: [sampleAssistant(), { role: "user", content: "hi", timestamp: 1 }],
      tokensBefore: 100,
      usage: zeroUsage(),
      fromHook: false,
    },
    branch_summary: { ...placed, type: "branch_summary", fromId: "e_0", summary: "s", fromHook: true },
    custom: { ...placed, type: "custom", customType: "note", data: { any: [1, null] } },
  };
}

/** An entry as it is before its commit. */
export function toDraft(entry: Entry): EntryDraft {
  const { seq: _seq, timestamp: _timestamp, ...draft } = entry;
  return draft;
}

export function sampleUsageRow(): UsageRow {
  return { id: "u_1", seq: 8, usage: zeroUsage(), entryId: "e_2", adjustment: false };
}

/** One operation per intent. */
export function sampleOperations(): { [Kind in Operation["intent"]["kind"]]: Operation } {
  const accepted = { operationId: "op_1", lane: "main", sourceLeafId: null, startedAt: 1000 };
  return {
    run: { ...accepted, intent: { kind: "run", promptEntryIds: ["e_1"], resumeData: { hook: { any: 1 } } } },
    compaction: { ...accepted, intent: { kind: "compaction", customInstructions: "short" } },
    navigation: { ...accepted, intent: { kind: "navigation", targetId: null, summarize: false } },
  };
}

export function samplePreparations(): Record<
  DurableStructuralPreparation["kind"],
  DurableStructuralPreparation
> {
  const fileOps = () => ({ read: ["a"], written: [], edited: ["b"] });
  return {
    compaction: {
      kind: "compaction",
      messagesToSummarize: [{ role: "user", content: "hi", timestamp: 1 }],
      turnPrefixMessages: [],
      retainedTail: [sampleAssistant()],
      isSplitTurn: false,
      tokensBefore: 100,
      previousSummary: "before",
      fileOps: fileOps(),
      settings: { ...DEFAULT_COMPACTION_SETTINGS },
    },
    branch_summary: {
      kind: "branch_summary",
      messages: [sampleAssistant()],
      fileOps: fileOps(),
      totalTokens: 10,
    },
  };
}

/** One result per outcome. */
export function sampleLastResults(): Record<LaneLastResult["outcome"], LaneLastResult> {
  const ended = { operationId: "op_1", kind: "run" as const, leafId: "e_3" };
  return {
    completed: { ...ended, outcome: "completed", finalAssistantEntryId: "e_3", runCompletion: "assistant" },
    failed: { ...ended, outcome: "failed", error: { code: "provider_error", message: "m" } },
    declined: { operationId: "op_1", kind: "compaction", leafId: "e_3", outcome: "declined" },
    aborted: { ...ended, outcome: "aborted" },
  };
}

/** One value per namespace. */
export function sampleRegisterValues(): RegisterValues & Record<RegisterNamespace, unknown> {
  return {
    "lane.leaf": "e_1",
    "lane.config": sampleConfiguration(),
    "lane.state": { currentOperationId: "op_1", pendingNextRun: ["e_8"] },
    "lane.lastResult": sampleLastResults().completed,
    "op.meta": sampleOperations().run,
    "op.state": sampleRun(),
    "op.tool_args": { path: "a.txt" },
    "op.preparation": samplePreparations().compaction,
    "pending.entry": { type: "message", payload: { role: "user", content: "hi", timestamp: 1 } },
    "fact.name": "session",
    "fact.label": "here",
    "fact.custom": null,
  };
}
