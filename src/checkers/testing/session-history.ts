/**
 * A session that is written by hand, transaction by transaction, with the timeline and the model that follow from it.
 * `history.ts` adds the rows of runs.
 */
import type { TimelineEvent, WorldRow } from "../../faults/index.ts";
import {
  BoundaryCounter,
  CANCELLATION_LABEL,
  DECISION_LABEL,
  REQUEST_LABEL,
  SUMMARY_LABEL,
  TIMER_LABEL,
  TOOL_LABEL,
} from "../../faults/index.ts";
import {
  createIdGenerator,
  seededRandom,
  timestampOf,
  VIRTUAL_EPOCH_MS,
  VirtualClock,
} from "../../foundation/index.ts";
import type { EntryDraft, LaneState, OperationState, RunState, Write } from "../../model/index.ts";
import type { SessionDump } from "../../storage/index.ts";
import { viewOf } from "../canonical-view.ts";
import type { View } from "../contract.ts";
import type { HarnessCommit } from "../harness-commit.ts";
import { StoreModel } from "../store-model.ts";
import { dumpOf } from "../stored-state.ts";
import { set } from "./values.ts";

/** One transaction of a history, with the session before it. */
export interface Step {
  readonly label: string;
  readonly before: StoreModel;
  readonly writes: readonly Write[];
  /** Index of its event in `events`. */
  readonly at: number;
}

export interface HistoryOptions {
  readonly maxAttempts?: number;
  readonly toolExecution?: "sequential" | "parallel";
}

const LABELS = {
  request: REQUEST_LABEL,
  summary: SUMMARY_LABEL,
  decision: DECISION_LABEL,
  tool: TOOL_LABEL,
  cancellation: CANCELLATION_LABEL,
} as const;

/** See the module header. */
export class SessionHistory {
  readonly steps: Step[] = [];
  readonly events: TimelineEvent[];
  readonly rows: WorldRow[];
  readonly clock: VirtualClock;
  model: StoreModel;
  protected readonly options: HistoryOptions;
  #ids;
  #counter = new BoundaryCounter();
  #seq = 2;
  #life = 0;

  constructor(options: HistoryOptions = {}, from?: SessionHistory) {
    this.options = options;
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

  /** Death, and the next life. */
  crash(at = "somewhere"): this {
    this.#push({ kind: "crash", at });
    this.#life++;
    this.#counter = new BoundaryCounter();
    this.#push({ kind: "boot", incarnation: this.#life });
    return this;
  }

  id(leader?: string): string {
    return leader === undefined ? this.#ids.next() : this.#ids.next(timestampOf(leader));
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

  /** @param overtakenBy how many of the events before it came after its start. */
  effect(row: WorldRow, overtakenBy = 0): this {
    this.rows.push(row);
    const boundary = this.#counter.next("effect", LABELS[row.kind]);
    this.#push({ kind: "effect", boundary, row, ...(overtakenBy === 0 ? {} : { overtakenBy }) });
    return this;
  }

  timer(delayMs: number): this {
    this.#push({ kind: "timer", boundary: this.#counter.next("effect", TIMER_LABEL), delayMs });
    this.clock.step(delayMs);
    return this;
  }

  /** Overwrites the operation's state, alone. */
  state(label: string, next: OperationState): this {
    return this.commit(label, [set("op.state", this.operationId, next)]);
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

  /** The session as a store would dump it. */
  dump(): SessionDump {
    return {
      ...dumpOf(this.model),
      metadata: { id: "session", createdAt: VIRTUAL_EPOCH_MS, storageVersion: 1 },
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

/** A value that a right history has. */
export function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error("the history has no such value");
  return value;
}

/** An item that a right history has. */
export function at<Item>(items: readonly Item[], index: number): Item {
  return present(items[index]);
}
