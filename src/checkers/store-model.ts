/**
 * The store model: what a session holds, folded from the transactions that were seen. Every checker asks it, so it is
 * folded once per event and handed to all.
 *
 * Terms. *Life*: one process over the session; a `boot` event begins the next one. *Reserved id*: an id that a durable
 * intent names before its content exists (spec §2.2).
 *
 * Invariants.
 * 1. The model believes the timeline and nothing else. It never looks at a store, so a store that lies is found by
 *    comparing the two.
 * 2. It applies what it is given, right or wrong: judging is for the checkers.
 * 3. `fork` costs the same for any session: both sides share their maps until one of them writes.
 * 4. A fold costs by its transaction; only the first fold after a fork copies the maps it touches.
 *
 * Besides contents it knows two things of time: in which life each intent became durable, and which tool calls were
 * executed in this life. The specification's recovery rows cannot be told from the live ones without them (spec §4.5).
 */
import { OUTSIDE_END, type TimelineEvent } from "../faults/index.ts";
import {
  addUsage,
  type CommitResult,
  type Entry,
  type OperationState,
  type Register,
  type RegisterNamespace,
  type RegisterValues,
  type UsageRow,
  validateWrites,
  type Write,
  zeroUsage,
} from "../model/index.ts";
import type { SessionDump, SessionStats } from "../storage/index.ts";
import { harnessCommitOf } from "./harness-commit.ts";
import { SharedMap } from "./shared-map.ts";

/** See the module header. */
export class StoreModel {
  readonly #registers = new Map<string, SharedMap<Register>>();
  #entries = new SharedMap<Entry>();
  #usage = new SharedMap<UsageRow>();
  /** Reserved id of a pending effect → the life whose commit made the intent durable. */
  #intents = new SharedMap<number>();
  #executedCalls: ReadonlySet<string> = new Set();
  #stats: SessionStats = { messageCount: 0, usage: zeroUsage() };
  #life = 0;
  /** Calls under way by which somebody else ends an operation. */
  #outsiderCount = 0;
  #lastSeq: number | undefined;
  #lastTimestamp: number | undefined;

  private constructor() {}

  /** A session as a repository creates it: lane `main` at the root, idle and not yet configured; seq 1 and 2 (spec §2.8). */
  static fresh(): StoreModel {
    const model = new StoreModel();
    model.#set({ namespace: "lane.leaf", key: "main", value: null, seq: 1 });
    model.#set({
      namespace: "lane.state",
      key: "main",
      value: { currentOperationId: null, pendingNextRun: [] },
      seq: 2,
    });
    return model;
  }

  /** A session as it was found on a disk. Every intent in it counts as one of an earlier life. */
  static of(dump: SessionDump): StoreModel {
    const model = new StoreModel();
    model.#life = -1;
    for (const register of dump.registers) model.#set(register);
    model.#life = 0;
    for (const entry of dump.entries) {
      model.#entries.set(entry.id, entry);
      model.#seen(entry.seq, entry.timestamp);
    }
    for (const row of dump.usage) model.#usage.set(row.id, row);
    for (const { seq } of [...dump.registers, ...dump.usage]) model.#seen(seq, 0);
    model.#stats = dump.stats;
    return model;
  }

  /** Whether somebody else is ending an operation just now. */
  get isOutsiderAtWork(): boolean {
    return this.#outsiderCount > 0;
  }

  /** A copy that goes on by itself. */
  fork(): StoreModel {
    const copy = new StoreModel();
    for (const [namespace, shared] of this.#registers) copy.#registers.set(namespace, shared.fork());
    copy.#entries = this.#entries.fork();
    copy.#usage = this.#usage.fork();
    copy.#intents = this.#intents.fork();
    copy.#executedCalls = this.#executedCalls;
    copy.#stats = this.#stats;
    copy.#life = this.#life;
    copy.#outsiderCount = this.#outsiderCount;
    copy.#lastSeq = this.#lastSeq;
    copy.#lastTimestamp = this.#lastTimestamp;
    return copy;
  }

  /** Takes the next event of the timeline. */
  observe(event: TimelineEvent): void {
    switch (event.kind) {
      case "boot":
        this.#life = event.incarnation;
        this.#executedCalls = new Set();
        this.#outsiderCount = 0;
        return;
      case "effect":
        if (event.row.kind === "tool") {
          this.#executedCalls = new Set(this.#executedCalls).add(event.row.callId);
        }
        return;
      case "commit": {
        const { writes, result } = harnessCommitOf(event.payload);
        // What is of no known shape cannot be folded; the judge says that it was committed.
        if (validateWrites(writes) === undefined) this.apply(writes, result);
        return;
      }
      case "call":
        if (event.name === OUTSIDE_END) this.#outsiderCount++;
        return;
      case "answer":
        if (event.name === OUTSIDE_END) this.#outsiderCount--;
        return;
      case "commit-failed":
      case "timer":
      case "crash":
        return;
    }
  }

  /** Folds one transaction. */
  apply(writes: readonly Write[], result: CommitResult): void {
    const { seqs, firstSeq, timestamp } = result;
    let index = 0;
    for (const write of writes) {
      const seq = seqs[index] ?? firstSeq + index;
      index++;
      this.#seen(seq, timestamp);
      if (write.kind === "entry") {
        const entry: Entry = { seq, timestamp, ...write.entry };
        this.#entries.set(entry.id, entry);
        this.#intents.delete(entry.id);
        if (entry.type === "message") {
          this.#stats = { ...this.#stats, messageCount: this.#stats.messageCount + 1 };
        }
      } else if (write.kind === "usage") {
        this.#usage.set(write.row.id, { seq, ...write.row });
        this.#stats = { ...this.#stats, usage: addUsage(this.#stats.usage, write.row.usage) };
      } else if (write.op === "set") {
        // The pair of namespace and value comes from one write, so it is a register of that namespace.
        const { namespace, key, value } = write;
        this.#set({ namespace, key, value, seq } as Register);
      } else {
        this.#registers.get(write.namespace)?.delete(write.key);
      }
    }
  }

  /** The current value of a register; undefined if there is none. */
  value<N extends RegisterNamespace>(namespace: N, key: string): RegisterValues[N] | undefined {
    return this.register(namespace, key)?.value;
  }

  /** A register; one that holds JSON null is present. */
  register<N extends RegisterNamespace>(namespace: N, key: string): Register<N> | undefined {
    return this.#registers.get(namespace)?.get(key) as Register<N> | undefined;
  }

  /** The registers of a namespace whose key starts with `keyPrefix`, in the order in which their keys came. */
  registers<N extends RegisterNamespace>(namespace: N, keyPrefix = ""): readonly Register<N>[] {
    const all = (this.#registers.get(namespace)?.values() ?? NONE) as readonly Register<N>[];
    return keyPrefix === "" ? all : all.filter(({ key }) => key.startsWith(keyPrefix));
  }

  entry(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  usageRow(id: string): UsageRow | undefined {
    return this.#usage.get(id);
  }

  /** In order of their commits. */
  entries(): readonly Entry[] {
    return this.#entries.values();
  }

  /** In order of their commits. */
  usageRows(): readonly UsageRow[] {
    return this.#usage.values();
  }

  /** What `getStats` must answer now. */
  get stats(): SessionStats {
    return this.#stats;
  }

  /** The current life, counted from 0. */
  get life(): number {
    return this.#life;
  }

  /** The highest sequence number that was seen; undefined before the first. */
  get lastSeq(): number | undefined {
    return this.#lastSeq;
  }

  /** The newest commit time that was seen, Unix ms; undefined before the first. */
  get lastTimestamp(): number | undefined {
    return this.#lastTimestamp;
  }

  /** Whether the intent that reserved this id became durable in an earlier life: its effect's outcome is unknown. */
  isFromEarlierLife(reservedId: string): boolean {
    const life = this.#intents.get(reservedId);
    return life !== undefined && life < this.#life;
  }

  /** Whether this tool call was executed in the current life. */
  wasExecutedInThisLife(callId: string): boolean {
    return this.#executedCalls.has(callId);
  }

  #set(register: Register): void {
    let namespace = this.#registers.get(register.namespace);
    if (namespace === undefined) {
      namespace = new SharedMap();
      this.#registers.set(register.namespace, namespace);
    }
    namespace.set(register.key, register);
    this.#seen(register.seq, 0);
    if (register.namespace === "op.state") {
      for (const id of reservedIds(register.value as OperationState)) {
        if (!this.#intents.has(id)) this.#intents.set(id, this.#life);
      }
    }
  }

  #seen(seq: number, timestamp: number): void {
    if (seq > 0) this.#lastSeq = Math.max(this.#lastSeq ?? 0, seq);
    if (timestamp > 0) this.#lastTimestamp = Math.max(this.#lastTimestamp ?? 0, timestamp);
  }
}

const NONE: readonly never[] = [];

/** The ids that stand for the pending effects of a state: responses, tool results, summary attempts. */
function reservedIds(state: OperationState): string[] {
  if (state.kind === "run") {
    const { phase } = state;
    switch (phase.kind) {
      case "assistant":
        return phase.generation.status === "effect_pending" ? [phase.generation.responseEntryId] : [];
      case "deferred":
        return phase.deferred.status === "effect_pending" ? [phase.deferred.responseEntryId] : [];
      case "tools":
        return phase.batch.calls.flatMap((call) =>
          call.status === "effect_pending" ? [call.resultEntryId] : [],
        );
      case "compaction":
        return summaryAttempt(phase.structural);
      case "checkpoint":
      case "failure_drain":
        return [];
    }
  }
  if (state.kind === "compaction") return summaryAttempt(state.structural);
  return state.summarize ? summaryAttempt(state.phase.structural) : [];
}

/** A summary reserves no entry for an attempt, so its attempt stands under a name of its own. */
export function summaryAttemptId(taskId: string, attempt: number): string {
  return `${taskId}:attempt:${attempt}`;
}

type Structural = Extract<OperationState, { kind: "compaction" }>["structural"];

function summaryAttempt(structural: Structural): string[] {
  if (structural.status !== "generating" || structural.generation.status !== "effect_pending") return [];
  return [summaryAttemptId(structural.taskId, structural.generation.attempt)];
}
