/**
 * What a session holds and where it stands, from its dump: lanes, queues, open operations, what a drive would do first
 * after a restart, and which rules the stored state breaks.
 *
 * The next action is asked of the runtime's own planner, as a process would that has just restored the session: nothing
 * runs, and `resume()` was called. What only the application knows is assumed: every model and tool that a configuration
 * names is registered, a tool is declared as it was when its call was started, and the context fits.
 */
import { brokenInvariants } from "../checkers/index.ts";
import { Corruption } from "../foundation/index.ts";
import type {
  AgentMessage,
  Entry,
  OperationState,
  PendingEntry,
  SettledAssistantMessage,
  Usage,
} from "../model/index.ts";
import {
  type AgreeingRegisters,
  checkReferences,
  checkRegisters,
  type LoadedReferences,
  nextAction,
  type PlannerInputs,
  referencesOf,
  structuralOf,
  type ToolDeclaration,
  toolCallsOf,
} from "../operation/index.ts";
import { lastSeqOf, type SessionDump, totalsOf } from "../storage/index.ts";
import { DumpedRegisters } from "./dumped-registers.ts";
import type {
  LaneFinding,
  OperationFinding,
  QueuedItem,
  QueueFinding,
  RefusalFinding,
  SessionFinding,
  ViolationFinding,
} from "./finding.ts";
import { foreignRoles, schemasFor } from "./foreign-roles.ts";
import { actionInWords, phaseInWords, preview, printable } from "./words.ts";

/** How a dump is looked at. */
export interface SessionLook {
  readonly nowMs: number;
  /** False where the totals are not those of a ledger: a legacy session has none yet. */
  readonly hasLedger: boolean;
}

/** See the module header. */
export function sessionFinding(dump: SessionDump, look: SessionLook): SessionFinding {
  const { entries, usage, metadata, stats } = dump;
  const registers = new DumpedRegisters(dump);
  const roles = foreignRoles(dump);
  const violations = violationsOf(dump, look, roles);
  const name = registers.value("fact.name", "");
  const newestEntryAt = entries.at(-1)?.timestamp;
  return {
    metadata,
    entryCount: entries.length,
    messageCount: entries.filter(({ type }) => type === "message").length,
    usageRowCount: usage.length,
    registerCount: dump.registers.length,
    lastSeq: lastSeqOf([...entries, ...usage, ...dump.registers]),
    ...(newestEntryAt === undefined ? {} : { newestEntryAt }),
    usage: stats.usage,
    ...(typeof name === "string" ? { name } : {}),
    labelCount: registers.keys("fact.label").length,
    customFactKeys: registers.keys("fact.custom"),
    ...(roles.length === 0 ? {} : { unjudgedRoles: roles.map(printable) }),
    // Values of no known shape are said as violations, and nothing is read out of them.
    lanes: violations.some(({ invariant }) => isAboutShapes(invariant)) ? [] : lanesOf(registers, look),
    violations,
  };
}

/** Of registers and of entries. */
function isAboutShapes(invariant: number | undefined): boolean {
  return invariant === 3 || invariant === 7;
}

function violationsOf(
  dump: SessionDump,
  { hasLedger }: SessionLook,
  roles: readonly string[],
): ViolationFinding[] {
  const broken = brokenInvariants(dump, schemasFor(roles));
  const violations: ViolationFinding[] = broken.map(({ number, message }) => ({
    invariant: number,
    message: printable(message),
  }));
  if (!hasLedger) return violations;
  const { messageCount, usage: ledger } = totalsOf(dump);
  if (messageCount !== dump.stats.messageCount) {
    const message = `the totals count ${dump.stats.messageCount} messages, and there are ${messageCount}`;
    violations.push({ message });
  }
  const added = amountsOf(ledger);
  const stored = amountsOf(dump.stats.usage);
  for (const name of new Set([...added.keys(), ...stored.keys()])) {
    const [found, expected] = [stored.get(name), added.get(name)];
    if (found !== undefined && expected !== undefined && isNear(found, expected)) continue;
    const message = `the totals say ${found ?? "nothing"} of ${name}, and the ledger adds up to ${expected ?? "nothing"}`;
    violations.push({ message });
  }
  return violations;
}

/** Every amount by its name; an optional one is there if any row has it. */
function amountsOf({ cost, ...tokens }: Usage): ReadonlyMap<string, number> {
  const costs = Object.entries(cost).map(([name, amount]) => [`cost.${name}`, amount] as const);
  return new Map([...Object.entries(tokens), ...costs]);
}

/** Sums of the same costs in another order. */
function isNear(left: number, right: number): boolean {
  return Math.abs(left - right) <= 1e-9 * Math.max(1, Math.abs(left), Math.abs(right));
}

function lanesOf(registers: DumpedRegisters, look: SessionLook): LaneFinding[] {
  const names = new Set([...registers.keys("lane.leaf"), ...registers.keys("lane.state")]);
  const sorted = [...names].sort((left, right) => (left < right ? -1 : 1));
  sorted.sort((left, right) => Number(right === "main") - Number(left === "main"));
  return sorted.map((name) => laneOf(name, registers, look));
}

function laneOf(name: string, registers: DumpedRegisters, look: SessionLook): LaneFinding {
  const configuration = registers.value("lane.config", name);
  const lastResult = registers.value("lane.lastResult", name);
  const laneState = registers.value("lane.state", name);
  const leafId = registers.value("lane.leaf", name);
  const operationId = laneState?.currentOperationId ?? undefined;
  const state = operationId === undefined ? undefined : registers.value("op.state", operationId);
  const refusal = refusalOf(name, registers);
  const operation =
    operationId === undefined || state === undefined
      ? undefined
      : operationOf(operationId, state, registers, look, refusal === undefined);
  const queues = queuesOf(laneState?.pendingNextRun ?? [], state, registers);
  return {
    name,
    leafId: leafId ?? null,
    ...(configuration === undefined ? {} : { configuration }),
    ...(operation === undefined ? {} : { operation }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(lastResult === undefined ? {} : { lastResult }),
    queues,
  };
}

/** What a harness would refuse this lane for, held against the same rules as when it restores one. */
function refusalOf(lane: string, registers: DumpedRegisters): RefusalFinding | undefined {
  const laneState = registers.value("lane.state", lane);
  if (laneState === undefined) {
    return {
      reason: "lane_state_missing",
      message: "the lane has a leaf but no state",
      subject: `lane.state/${lane}`,
    };
  }
  const operationId = laneState.currentOperationId;
  try {
    const agreeing: AgreeingRegisters = checkRegisters({
      lane,
      laneState,
      leafId: registers.value("lane.leaf", lane),
      configuration: registers.value("lane.config", lane),
      operation: operationId === null ? undefined : registers.value("op.meta", operationId),
      state: operationId === null ? undefined : registers.value("op.state", operationId),
    });
    const references = referencesOf(laneState, agreeing.leafId, agreeing.open);
    const loaded: LoadedReferences = {
      entries: registers.entries,
      pending: registers.all("pending.entry"),
      toolArguments: registers.all("op.tool_args"),
      preparations: registers.all("op.preparation"),
    };
    checkReferences(agreeing, references, loaded);
    return undefined;
  } catch (error) {
    if (!(error instanceof Corruption)) throw error;
    return refusalFinding(error);
  }
}

/** A refusal of a reader, as data. */
export function refusalFinding(error: Corruption): RefusalFinding {
  const { line, byteOffset, subject } = error.place;
  return {
    reason: error.reason,
    message: printable(error.message),
    ...(line === undefined ? {} : { line }),
    ...(byteOffset === undefined ? {} : { byteOffset }),
    ...(subject === undefined ? {} : { subject: printable(subject) }),
  };
}

function operationOf(
  operationId: string,
  state: OperationState,
  registers: DumpedRegisters,
  look: SessionLook,
  isValid: boolean,
): OperationFinding {
  const startedAt = registers.value("op.meta", operationId)?.startedAt ?? 0;
  const found = {
    operationId,
    kind: state.kind,
    startedAt,
    isCancelled: state.control.status === "cancel_requested",
    phase: phaseInWords(state),
  };
  // What cannot be restored is not driven.
  if (!isValid) return found;
  const response = batchResponse(state, registers.entries);
  const sources = response === undefined ? [] : toolCallsOf(response);
  const action = nextAction(state, {
    ...plannerInputs(state, response, look.nowMs),
    structural: structuralInputs(operationId, state, registers),
  });
  const nameOf = (sourceIndex: number) => {
    const name = sources[sourceIndex]?.name;
    return `call ${sourceIndex}${name === undefined ? "" : ` (${printable(name)})`}`;
  };
  return { ...found, next: { action, says: actionInWords(action, nameOf) } };
}

/** See the module header for what is assumed. */
function plannerInputs(
  state: OperationState,
  response: SettledAssistantMessage | undefined,
  nowMs: number,
): PlannerInputs {
  const tools = new Map<string, ToolDeclaration>();
  if (state.kind === "run" && state.phase.kind === "tools") {
    const { batch } = state.phase;
    const sources = response === undefined ? [] : toolCallsOf(response);
    for (const name of batch.configuration.activeToolNames) {
      tools.set(name, { replay: "never", executionMode: "parallel" });
    }
    for (const call of batch.calls) {
      const name = sources[call.sourceIndex]?.name;
      if (name === undefined || call.status !== "effect_pending") continue;
      tools.set(name, { replay: call.replay, executionMode: "parallel" });
    }
  }
  return {
    nowMs,
    running: new Set(),
    deferredPollsRemaining: 1,
    tools,
    hasModel: () => true,
    batchAssistant: response,
  };
}

function structuralInputs(
  operationId: string,
  state: OperationState,
  registers: DumpedRegisters,
): PlannerInputs["structural"] {
  const structural = structuralOf(state);
  if (structural === undefined) return undefined;
  const preparation = registers.value("op.preparation", `${operationId}:${structural.taskId}`);
  return preparation === undefined ? undefined : { preparation };
}

function batchResponse(
  state: OperationState,
  entries: ReadonlyMap<string, Entry>,
): SettledAssistantMessage | undefined {
  if (state.kind !== "run") return undefined;
  const id =
    state.phase.kind === "tools"
      ? state.phase.batch.assistantEntryId
      : state.phase.kind === "deferred"
        ? state.phase.deferred.sourceEntryId
        : undefined;
  const entry = id === undefined ? undefined : entries.get(id);
  if (entry?.type !== "message" || entry.message.role !== "assistant") return undefined;
  // A stored response is settled; its schema says so.
  return entry.message as SettledAssistantMessage;
}

function queuesOf(
  nextRun: readonly string[],
  state: OperationState | undefined,
  registers: DumpedRegisters,
): QueueFinding[] {
  const queues: [QueueFinding["queue"], readonly string[]][] = [["nextRun", nextRun]];
  if (state?.kind === "run") {
    const { steer, followUp, writes } = state.inbox;
    queues.push(["steer", steer], ["followUp", followUp], ["writes", writes]);
  }
  if (state?.control.status === "cancel_requested") {
    queues.push(
      ["drainedSteer", state.control.drainedSteer],
      ["drainedFollowUp", state.control.drainedFollowUp],
    );
  }
  return queues.flatMap(([queue, ids]) =>
    ids.length === 0
      ? []
      : [{ queue, items: ids.map((id) => queuedItem(id, registers.value("pending.entry", id))) }],
  );
}

function queuedItem(entryId: string, pending: PendingEntry | undefined): QueuedItem {
  if (pending === undefined) return { entryId };
  if (pending.type === "custom") return { entryId, content: `custom ${printable(pending.customType)}` };
  const text = textOf(pending.payload);
  return {
    entryId,
    content: printable(pending.payload.role),
    ...(text === "" ? {} : { preview: preview(text) }),
  };
}

/** What a message says, of any role. */
function textOf(message: AgentMessage): string {
  const { content } = message as { content?: unknown };
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((block) => (typeof block?.text === "string" ? [block.text] : [])).join(" ");
}
