/**
 * What the reducer remembers between facts (spec §4, "Internal").
 *
 * Terms. *Boundary*: the entry through which the active context reaches; the next step must name it. *Trial*: the
 * changes of a transaction that may still be refused or fail to be written.
 *
 * Invariants.
 * 1. Between `begin` and `takeBack` maps and objects change through `undo` alone; lists of the tables only grow, and
 *    scalars are replaced. So a trial that is taken back leaves nothing behind.
 * 2. At most one operation is unfinished, and it is `current`.
 * 3. `transcript[i]` is `messages[i].message`.
 */
import { ConfigurationReader } from "./configuration.ts";
import type { SessionHeader } from "./header.ts";
import { callsOf, type Message } from "./messages.ts";
import type { Attempt, MessageEntry, Named, Operation } from "./named.ts";
import type { FactCode } from "./refusal.ts";
import type { Usage } from "./state.ts";
import { UndoLog } from "./undo-log.ts";
import { isUuid } from "./values.ts";

export class SessionTables {
  readonly header: SessionHeader;
  readonly undo = new UndoLog();
  readonly configurations = new ConfigurationReader();
  readonly names = new Map<string, Named>();
  readonly messages: MessageEntry[] = [];
  /** Until the first compaction one list serves as transcript and as active context. */
  readonly transcript: Message[] = [];
  /** The calls of the last assistant message that no tool message has answered yet. */
  readonly openCalls = new Map<string, true>();
  activeContext: Message[] = this.transcript;
  usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  current: Operation | undefined;
  boundary: string | undefined;
  /** The last assistant message. */
  latestAnswer: MessageEntry | undefined;
  /** How many messages of the transcript the transcript check has seen. */
  checkedCount = 0;
  nextSeq = 1;
  lineCount = 1;
  repairedLength: number;
  #before: Scalars | undefined;

  constructor(header: SessionHeader, repairedLength: number) {
    this.header = header;
    this.repairedLength = repairedLength;
  }

  begin(): void {
    this.undo.begin();
    this.#before = {
      messageCount: this.messages.length,
      activeContext: this.activeContext,
      contextLength: this.activeContext.length,
      usage: this.usage,
      current: this.current,
      boundary: this.boundary,
      latestAnswer: this.latestAnswer,
      checkedCount: this.checkedCount,
      nextSeq: this.nextSeq,
      lineCount: this.lineCount,
      repairedLength: this.repairedLength,
    };
  }

  keep(): void {
    this.undo.keep();
    this.#before = undefined;
  }

  takeBack(): void {
    this.undo.takeBack();
    const before = this.#before;
    if (before === undefined) return;
    const { messageCount, contextLength, ...scalars } = before;
    Object.assign(this, scalars);
    this.messages.length = messageCount;
    this.transcript.length = messageCount;
    this.activeContext.length = contextLength;
    this.#before = undefined;
  }

  /** Whether a value is an id; the one of the latest step is known to be. */
  isId(value: unknown): value is string {
    return value === this.current?.step?.stepId ? value !== undefined : isUuid(value);
  }

  /** Whether an id may be reserved; `reservationFault` says why not (spec §3.2, *reserve*). */
  isFree(id: unknown): id is string {
    return isUuid(id) && !this.names.has(id);
  }

  /** Lets an id name something. Says whether it named nothing before. */
  name(id: string, named: Named): boolean {
    const nameCount = this.names.size;
    this.undo.put(this.names, id, named);
    return this.names.size > nameCount;
  }

  // A fact nearly always refers to what the last few facts were about, so that is looked at before the map is.

  /** The operation of that id, finished or not. */
  operation(id: unknown): Operation | undefined {
    if (this.current?.operationId === id) return this.current;
    const named = this.names.get(id as string);
    return named?.kind === "run" || named?.kind === "compaction" ? named : undefined;
  }

  /** The attempt of that id. */
  attempt(id: unknown): Attempt | undefined {
    const latest = this.current?.step;
    if (latest?.attemptId === id) return latest;
    const named = this.names.get(id as string);
    // A step's id names its first attempt too, and is no attempt's id.
    return named?.kind === "attempt" && named.attemptId === id ? named : undefined;
  }

  /** The message entry of that id. */
  message(id: unknown): MessageEntry | undefined {
    const latest = this.messages.at(-1);
    if (latest?.entryId === id) return latest;
    if (this.latestAnswer?.entryId === id) return this.latestAnswer;
    const named = this.names.get(id as string);
    return named?.kind === "message" ? named : undefined;
  }

  /** The unfinished operation of that id, or why there is none (spec §3.5, *lookup*). */
  lookup(operationId: unknown): Operation | FactCode {
    const operation = this.operation(operationId);
    if (operation === undefined) return referenceFault(operationId);
    return operation.finished ? "INVALID_TRANSITION" : operation;
  }

  /** Whether a run still waits for the result of a started call. */
  isToolPending(): boolean {
    return this.current?.kind === "run" && this.current.pendingCount > 0;
  }

  /** Appends a message to transcript and active context, and moves the boundary to it (spec §3.4). */
  appendMessage(entryId: string, message: Message, attempt?: Attempt): MessageEntry {
    const callCount = callsOf(message).length;
    const entry: MessageEntry = {
      kind: "message",
      entryId,
      message,
      messagesThrough: this.messages.length + 1,
      attempt,
      usedCalls: callCount === 0 ? NO_CALLS : new Array<boolean>(callCount).fill(false),
    };
    this.messages.push(entry);
    this.transcript.push(message);
    if (this.activeContext !== this.transcript) this.activeContext.push(message);
    this.boundary = entryId;
    if (message.role === "assistant") this.latestAnswer = entry;
    return entry;
  }

  /** Closes an attempt; one that is repeated keeps its status, which nobody reads any more. */
  close(attempt: Attempt, status: Attempt["status"] = attempt.status): void {
    this.undo.assign(attempt, "isOpen", false);
    this.undo.assign(attempt, "status", status);
  }
}

/** Why an id cannot be reserved, if it is not free. */
export function reservationFault(id: unknown): FactCode {
  return isUuid(id) ? "DUPLICATE_ID" : "INVALID_FACT";
}

/** Why a reference names nothing of the wanted kind. */
export function referenceFault(id: unknown): FactCode {
  return isUuid(id) ? "INVALID_REFERENCE" : "INVALID_FACT";
}

/** What a trial remembers of the members that are replaced, and of the lists that grow. */
interface Scalars {
  readonly messageCount: number;
  readonly activeContext: Message[];
  readonly contextLength: number;
  readonly usage: Usage;
  readonly current: Operation | undefined;
  readonly boundary: string | undefined;
  readonly latestAnswer: MessageEntry | undefined;
  readonly checkedCount: number;
  readonly nextSeq: number;
  readonly lineCount: number;
  readonly repairedLength: number;
}

/** Shared by the messages without calls, and never written: a call is looked up before it is marked. */
const NO_CALLS: boolean[] = [];
