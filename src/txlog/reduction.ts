/**
 * The reducer: committed lines in, state or refusal out (spec §4).
 *
 * A `Reduction` is what a reader knows after some line. Reading a file and committing to it are the same code: the store
 * tries the bytes of a transaction as they will be re-read, and lets the trial stand once they are written.
 *
 * Invariants.
 * 1. After `attempt` a reduction is as it was, or as a full read of the longer file would make it.
 * 2. The cost of `attempt` depends on the transaction and not on the session.
 * 3. A refused file gives the first refusal in reading order; lines after it are not looked at.
 */
import { err, ok, type Result } from "../foundation/index.ts";
import { applyFact } from "./facts/envelope.ts";
import { type CommittedRegion, committedRegion, firstLineEnd, lineFault, visitLines } from "./framing.ts";
import { readHeader, type SessionHeader } from "./header.ts";
import type { Attempt, CompactionOperation, MessageEntry } from "./named.ts";
import type { Refusal } from "./refusal.ts";
import type {
  CompactionPlan,
  OperationState,
  RecoveryPoint,
  RetainedMessage,
  SessionState,
  StepState,
} from "./state.ts";
import { readStrictJson } from "./strict-json.ts";
import { SessionTables } from "./tables.ts";
import { checkNewMessages } from "./transcript.ts";

/** Reads a file from its bytes. The torn tail, if any, is not looked at. */
export function reduce(bytes: Uint8Array): Result<Reduction, Refusal> {
  const region = committedRegion(bytes);
  if (!region.ok) return region;
  const end = firstLineEnd(region.value);
  const header = readHeaderLine(region.value, end);
  if (!header.ok) return header;
  const tables = new SessionTables(header.value, end);
  const refusal = applyLines(tables, region.value, end);
  return refusal === undefined ? ok(new Reduction(tables)) : err(refusal);
}

export class Reduction {
  readonly #tables: SessionTables;

  constructor(tables: SessionTables) {
    this.#tables = tables;
  }

  get header(): SessionHeader {
    return this.#tables.header;
  }

  /** The `seq` of the next fact. */
  get nextSeq(): number {
    return this.#tables.nextSeq;
  }

  /** The length of the lines that were read, in bytes. */
  get repairedLength(): number {
    return this.#tables.repairedLength;
  }

  /**
   * Tries the bytes of further lines. Without a refusal the trial is open and ends with `keep` or `takeBack`; with one it
   * has been taken back already.
   */
  attempt(lines: Uint8Array): Refusal | undefined {
    const region = committedRegion(lines);
    if (!region.ok) return { ...region.error, line: this.#tables.lineCount + region.error.line };
    this.#tables.begin();
    const refusal = applyLines(this.#tables, region.value, 0);
    if (refusal !== undefined) this.#tables.takeBack();
    return refusal;
  }

  keep(): void {
    this.#tables.keep();
  }

  takeBack(): void {
    this.#tables.takeBack();
  }

  /** The state, sharing no list with this reduction: it stays as it is when the session goes on. */
  snapshot(): SessionState {
    const live = this.live().state;
    const operation =
      live.operation.kind === "run"
        ? { ...live.operation, toolCalls: live.operation.toolCalls.map((call) => ({ ...call })) }
        : live.operation;
    return {
      ...live,
      transcript: live.transcript.slice(),
      activeContext: live.activeContext.slice(),
      operation,
    };
  }

  /** The state as it is now, without copying a list: to be read at once and not kept. */
  live(): RecoveryPoint {
    const tables = this.#tables;
    const { current } = tables;
    return {
      state: {
        header: tables.header,
        transcript: tables.transcript,
        activeContext: tables.activeContext,
        usage: tables.usage,
        operation: operationState(tables),
        repairedLength: tables.repairedLength,
      },
      ...(tables.boundary === undefined ? {} : { boundary: tables.boundary }),
      sources: () => retained(tables.messages),
      ...(current?.kind === "compaction" ? { compaction: compactionPlan(tables, current) } : {}),
    };
  }
}

function readHeaderLine(region: CommittedRegion, end: number): Result<SessionHeader, Refusal> {
  const text = region.buffer.toString(region.encoding, 0, end - 1);
  const fault = lineFault(text, 1);
  if (fault !== undefined) return err({ code: fault, line: 1 });
  const value = readStrictJson(text, region.escapesSurrogates);
  if (!value.ok) return err({ code: value.error, line: 1 });
  const header = readHeader(value.value);
  return header.ok ? header : err({ code: header.error, line: 1 });
}

/** Reads and reduces line by line from a byte on, until the region ends or a line is refused. */
function applyLines(tables: SessionTables, region: CommittedRegion, from: number): Refusal | undefined {
  const refusal = visitLines(region, from, (text): Refusal | undefined => {
    const line = tables.lineCount + 1;
    const fault = lineFault(text, line);
    if (fault !== undefined) return { code: fault, line };
    const value = readStrictJson(text, region.escapesSurrogates);
    if (!value.ok) return { code: value.error, line };
    const refused = applyTransaction(tables, value.value, line);
    if (refused === undefined) tables.lineCount = line;
    return refused;
  });
  if (refusal === undefined) tables.repairedLength += region.buffer.length - from;
  return refusal;
}

function applyTransaction(tables: SessionTables, value: unknown, line: number): Refusal | undefined {
  if (Array.isArray(value)) {
    if (value.length === 0) return { code: "EMPTY_TRANSACTION", line };
    for (const fact of value) {
      const refusal = applyFact(tables, fact);
      if (refusal !== undefined) return at(line, refusal);
    }
  } else {
    const refusal = applyFact(tables, value);
    if (refusal !== undefined) return at(line, refusal);
  }
  const code = checkNewMessages(tables);
  return code === undefined ? undefined : { code, line, seq: tables.nextSeq - 1 };
}

function at(line: number, refusal: Omit<Refusal, "line">): Refusal {
  return refusal.seq === undefined
    ? { code: refusal.code, line }
    : { code: refusal.code, line, seq: refusal.seq };
}

function operationState(tables: SessionTables): OperationState {
  const operation = tables.current;
  if (operation === undefined) return { kind: "idle" };
  const { operationId, abortRequested } = operation;
  const step = operation.step === undefined ? {} : { step: stepState(operation.step) };
  if (operation.kind === "compaction") {
    const { inputThroughEntryId, resultEntryId } = operation;
    return { kind: "compaction", operationId, inputThroughEntryId, resultEntryId, ...step, abortRequested };
  }
  const { inputEntryId, toolCalls } = operation;
  return { kind: "run", operationId, inputEntryId, ...step, toolCalls, abortRequested };
}

function stepState(attempt: Attempt): StepState {
  const { kind: _, isOpen: __, configuration, settledEntryId, stopReason, ...shown } = attempt;
  return {
    ...shown,
    configurationSnapshot: configuration.snapshot,
    configurationDigest: configuration.digest,
    ...(settledEntryId === undefined ? {} : { settledEntryId }),
    ...(stopReason === undefined ? {} : { stopReason }),
  };
}

/** What the entry of an unfinished compaction must say, from its record (spec §3.8, duty 4). */
function compactionPlan(tables: SessionTables, operation: CompactionOperation): CompactionPlan {
  const { compactedEntryIds, inputThroughEntryId } = operation;
  const input = tables.names.get(inputThroughEntryId);
  const through = input?.kind === "message" ? input.messagesThrough : 0;
  const compactedCount = compactedEntryIds.length;
  return {
    compactedCount,
    compactedThroughEntryId: compactedEntryIds.at(-1) ?? inputThroughEntryId,
    retainedTail: retained(tables.messages.slice(compactedCount, through)),
  };
}

function retained(entries: readonly MessageEntry[]): RetainedMessage[] {
  return entries.map(({ entryId, message }) => ({ sourceEntryId: entryId, message }));
}
