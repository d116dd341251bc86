/**
 * A trial: one store, the reference beside it, and the questions that clauses ask of both.
 *
 * Clauses commit through the trial, so the reference always knows what the session must hold. `revisit` is where a
 * clause turns from acting to looking: in the *live* state it answers the store as it is, in the *reopened* state the
 * same session opened again. So one body proves a promise both ways.
 */
import assert from "node:assert/strict";
import { VirtualClock } from "../../src/foundation/index.ts";
import { type CommitResult, REGISTER_NAMESPACES, type Register, type Write } from "../../src/model/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import type { StorageFactory, StorageHandle } from "./factory.ts";
import { Reference } from "./reference.ts";
import { type Refusal, refuses } from "./refusal.ts";

export type TrialState = "live" | "reopened";

/** See the module header. */
export class Trial {
  readonly clock: VirtualClock;
  readonly handle: StorageHandle;
  readonly reference: Reference;
  readonly #factory: StorageFactory;
  readonly #state: TrialState;
  readonly #others: Trial[] = [];
  #storage: Storage;
  #isDisposed = false;

  private constructor(
    factory: StorageFactory,
    state: TrialState,
    clock: VirtualClock,
    handle: StorageHandle,
    reference: Reference,
  ) {
    this.#factory = factory;
    this.#state = state;
    this.clock = clock;
    this.handle = handle;
    this.reference = reference;
    this.#storage = handle.storage;
  }

  static async begin(factory: StorageFactory, state: TrialState): Promise<Trial> {
    const clock = new VirtualClock();
    const handle = await factory.create({ clock });
    const created: Register[] = [];
    for (const namespace of REGISTER_NAMESPACES) {
      created.push(...(await handle.storage.listRegisters(namespace)));
    }
    return new Trial(factory, state, clock, handle, new Reference(created));
  }

  /** The store that is open now. */
  get storage(): Storage {
    return this.#storage;
  }

  /** The seq of the clause's own n-th write, from 1. */
  seq(writeNumber: number): number {
    return this.reference.baseSeq + writeNumber;
  }

  /** A second session of the same backend, disposed of with this one. */
  async another(): Promise<Trial> {
    const other = await Trial.begin(this.#factory, this.#state);
    this.#others.push(other);
    return other;
  }

  /** Commits, and holds what the store answers against the reference (contract 2). */
  async commit(...writes: Write[]): Promise<CommitResult> {
    const result = await this.#storage.commit({ writes: structuredClone(writes) });
    assert.deepEqual(result, this.reference.apply(writes, this.clock.now()), "the answer of commit");
    return result;
  }

  /** Offers a transaction that must be refused, and proves that it left no trace (contract 1). */
  async refuse(transaction: unknown, refusal: Refusal): Promise<void> {
    await refuses(() => this.#storage.commit(transaction as { writes: Write[] }), refusal);
    await this.agrees();
  }

  /** The store to look at; see the module header. */
  async revisit(): Promise<Storage> {
    if (this.#state === "reopened") await this.reopen();
    return this.#storage;
  }

  async reopen(): Promise<Storage> {
    this.#storage = await this.handle.reopen();
    return this.#storage;
  }

  /** Proves that the store holds what the reference holds, and nothing else. */
  async agrees(): Promise<void> {
    await agree(this.#storage, this.reference);
  }

  /** Ends the trial; a second call does nothing. */
  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const other of this.#others) await other.dispose();
    await this.handle.dispose();
  }
}

/** Proves that a store holds what a reference holds, and nothing else: entries, ledger, registers, stats. */
export async function agree(storage: Storage, reference: Reference): Promise<void> {
  assert.deepEqual(await storage.scanEntries({}), reference.entries, "all entries");
  assert.deepEqual(await storage.scanUsage({}), reference.usage, "the whole ledger");
  for (const namespace of REGISTER_NAMESPACES) {
    assert.deepEqual(
      await storage.listRegisters(namespace),
      reference.registers(namespace),
      `all registers of ${namespace}`,
    );
  }
  assert.deepEqual(await storage.getStats(), reference.stats(), "the stats");
}
