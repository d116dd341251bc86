/**
 * The instrumented store: every commit passes the gate and is written into the timeline, in order.
 *
 * It is the judge's eye, not a part of the runtime: the runtime sees a `Storage` like any other. What it records is
 * what was asked and what the store answered, never what was meant.
 *
 * Invariants.
 * 1. The order of commit events is the order in which the store confirmed them.
 * 2. A commit that the store refused or failed is an event too, and the runtime gets the store's own error.
 * 3. Of two commits that are asked for at once, the second reaches the store when the first is recorded: what the store
 *    says of itself after a commit is said of no other.
 * 4. Recording costs the same for any session; labels are computed only while the gate may stop (a label reads what
 *    the writes say, so a run that nobody stops does not pay for it).
 */
import type { CommitResult, Transaction, Write } from "../model/index.ts";
import type { BranchScan, EntryScan, SessionStats, Storage, UsageScan } from "../storage/index.ts";
import type { Boundary } from "./boundary.ts";
import type { Gate } from "./gate.ts";
import type { Timeline } from "./timeline.ts";

/** The payload of a `commit` event of an instrumented store. */
export interface RecordedCommit {
  readonly writes: readonly Write[];
  readonly result: CommitResult;
  /** What `getStats` answered right after the commit. */
  readonly stats: SessionStats;
}

/** The payload of a `commit-failed` event. */
export interface RecordedFailure {
  readonly writes: readonly Write[];
  /** When it failed: the earliest time that its entries can have, if it is stored all the same. */
  readonly nowMs?: number;
}

/** What the store is watched with. */
export interface Instruments {
  readonly gate: Gate;
  readonly timeline: Timeline;
  /** The specification's name of a commit, from its writes and from what was committed before. */
  readonly label: (writes: readonly Write[]) => string;
  /** Called when a commit was released, before the store gets it. */
  readonly released?: (boundary: Boundary) => void;
  /** What is asked for the stats, where a failing medium would take the question for the runtime's. */
  readonly stats?: Pick<Storage, "getStats">;
  /** The clock of the store, Unix ms. */
  readonly now?: () => number;
}

/** See the module header. */
export class InstrumentedStorage implements Storage {
  readonly #inner: Storage;
  readonly #instruments: Instruments;
  #isRecording = false;
  /** Commits that wait until another is recorded; nearly always none, and then waiting costs nothing. */
  readonly #waiting: (() => void)[] = [];

  constructor(inner: Storage, instruments: Instruments) {
    this.#inner = inner;
    this.#instruments = instruments;
  }

  commit(transaction: Transaction): Promise<CommitResult> {
    const { gate, timeline, label, released, stats: asked = this.#inner, now } = this.#instruments;
    const { writes } = transaction;
    return gate.pass("commit", label(writes), async (boundary) => {
      if (this.#isRecording) await new Promise<void>((turn) => this.#waiting.push(turn));
      this.#isRecording = true;
      released?.(boundary);
      try {
        const result = await this.#inner.commit(transaction);
        const stats = await asked.getStats();
        timeline.push({
          kind: "commit",
          boundary,
          payload: { writes, result, stats } satisfies RecordedCommit,
        });
        return result;
      } catch (error) {
        const payload: RecordedFailure = now === undefined ? { writes } : { writes, nowMs: now() };
        timeline.push({ kind: "commit-failed", boundary, payload, error: describeError(error) });
        throw error;
      } finally {
        const next = this.#waiting.shift();
        // Whoever comes meanwhile stands behind the one whose turn it is.
        this.#isRecording = next !== undefined;
        next?.();
      }
    });
  }

  getEntries(ids: readonly string[]): ReturnType<Storage["getEntries"]> {
    return this.#inner.getEntries(ids);
  }

  getRegister: Storage["getRegister"] = (namespace, key) => this.#inner.getRegister(namespace, key);

  listRegisters: Storage["listRegisters"] = (namespace, keyPrefix) =>
    this.#inner.listRegisters(namespace, keyPrefix);

  scanBranch(query: BranchScan): ReturnType<Storage["scanBranch"]> {
    return this.#inner.scanBranch(query);
  }

  scanBranchStructure(query: BranchScan): ReturnType<Storage["scanBranchStructure"]> {
    return this.#inner.scanBranchStructure(query);
  }

  scanEntries(query: EntryScan): ReturnType<Storage["scanEntries"]> {
    return this.#inner.scanEntries(query);
  }

  scanUsage(query: UsageScan): ReturnType<Storage["scanUsage"]> {
    return this.#inner.scanUsage(query);
  }

  getStats(): Promise<SessionStats> {
    return this.#inner.getStats();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
