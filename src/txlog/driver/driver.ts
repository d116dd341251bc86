/**
 * The driver: plans, acts, and plans again until nothing is left to do or recovery is blocked (spec §5, §5.4).
 *
 * Opening a session does nothing by itself. `resume` drives what is unfinished, and a fresh prompt is driven by the very
 * same loop: there is no second path for work that was never interrupted.
 *
 * Invariants.
 * 1. An effect begins only after the commit that states its intent has resolved.
 * 2. Planning, the commit that follows from the plan, and the start of the effect that follows from the commit are one
 *    turn, which no other call comes between. What the effect takes then is outside of turns, so that an abort can be
 *    written meanwhile.
 * 3. After an abort is on disk no effect begins and only closure is written.
 * 4. Effects run one at a time, in the order of the calls.
 */
import { err, type IdGenerator, ok, type Result } from "../../foundation/index.ts";
import type { NewFact } from "../fact-types.ts";
import { sourceDigest } from "../facts/operation-started.ts";
import type { BlockedReason } from "../plan.ts";
import type { RecoveryPoint, RetainedMessage } from "../state.ts";
import { SessionStoreError } from "../store/errors.ts";
import type { RecoverableStore } from "../store/store.ts";
import type { ModelRequest, World } from "../world.ts";
import { Decider, type Effect, type ProcessDeclaration } from "./decide.ts";
import { failedStep, requestOutcome, toolOutcome, UNUSABLE_ANSWER_ERROR } from "./settle.ts";

export interface DriverParts {
  readonly store: RecoverableStore;
  readonly world: World;
  readonly ids: IdGenerator;
  readonly process: ProcessDeclaration;
}

/** Where a drive ended: everything is done, or going on needs someone's decision. */
export type Rest = { readonly type: "idle" } | { readonly type: "blocked"; readonly reason: BlockedReason };

/** Work that is on disk. */
export interface Accepted {
  readonly operationId: string;
}

export class SessionDriver {
  readonly #store: RecoverableStore;
  readonly #world: World;
  readonly #ids: IdGenerator;
  readonly #decider: Decider;
  #turns: Promise<unknown> = Promise.resolve();
  #drive: Promise<Rest> | undefined;
  #effect: AbortController | undefined;

  constructor({ store, world, ids, process }: DriverParts) {
    this.#store = store;
    this.#world = world;
    this.#ids = ids;
    this.#decider = new Decider(process, ids);
  }

  /** Accepts a message of the user; resolves once it is on disk. `resume` then works on it. */
  prompt(content: string): Promise<Result<Accepted, "OPERATION_UNFINISHED">> {
    return this.#inTurn(async () => {
      if (!(await this.#isIdle())) return err("OPERATION_UNFINISHED");
      const inputEntryId = this.#ids.next();
      const operationId = this.#ids.next();
      await this.#store.commit([
        {
          kind: "entry",
          id: inputEntryId,
          entry: { type: "message", message: { role: "user", content: content.toWellFormed() } },
        },
        { kind: "record", record: { type: "runStarted", operationId, operationKind: "run", inputEntryId } },
      ]);
      return ok({ operationId });
    });
  }

  /** Accepts a compaction that keeps about the last `retainCount` messages; `resume` then works on it. */
  compact(retainCount: number): Promise<Result<Accepted, "OPERATION_UNFINISHED" | "NOTHING_TO_COMPACT">> {
    return this.#inTurn(async () => {
      if (!(await this.#isIdle())) return err("OPERATION_UNFINISHED");
      const sources = await this.#store.consult((point) => point.sources());
      const input = sources.at(-1);
      if (input === undefined) return err("NOTHING_TO_COMPACT");
      const cut = cutBefore(sources, Math.max(1, sources.length - retainCount));
      const sourceIds = sources.map((source) => source.sourceEntryId);
      const operationId = this.#ids.next();
      await this.#store.commit([
        {
          kind: "record",
          record: {
            type: "compactionStarted",
            operationId,
            operationKind: "compaction",
            inputThroughEntryId: input.sourceEntryId,
            resultEntryId: this.#ids.next(),
            compactedEntryIds: sourceIds.slice(0, cut),
            retainedEntryIds: sourceIds.slice(cut),
            sourceDigest: sourceDigest(sources),
          },
        },
      ]);
      return ok({ operationId });
    });
  }

  /** Drives until idle or blocked. While a drive runs, asking again is waiting for it. */
  resume(): Promise<Rest> {
    this.#drive ??= this.#run().finally(() => {
      this.#drive = undefined;
    });
    return this.#drive;
  }

  /**
   * Asks the unfinished operation to end; resolves once that is on disk, to whether there was one. Its closure is written
   * by the running drive, or by the next one.
   */
  abort(): Promise<boolean> {
    return this.#inTurn(async () => {
      const facts = await this.#store.consult(({ state }) => {
        const { operation } = state;
        if (operation.kind === "idle") return undefined;
        if (operation.abortRequested) return [];
        const { operationId, kind: operationKind } = operation;
        const request = { type: "abortRequested", operationId, operationKind, reason: "escape" } as const;
        if (operation.kind === "compaction") return [abortFact({ ...request, phase: "compact" })];
        const pending = operation.toolCalls.findLast((call) => call.status === "pending");
        return pending === undefined
          ? [abortFact({ ...request, phase: "model" })]
          : [abortFact({ ...request, phase: "tool", toolCallId: pending.toolCallId })];
      });
      if (facts !== undefined && facts.length > 0) await this.#store.commit(facts);
      if (facts !== undefined) this.#effect?.abort();
      return facts !== undefined;
    });
  }

  async #run(): Promise<Rest> {
    for (;;) {
      const turn = await this.#inTurn(() => this.#takeTurn());
      if (turn.type === "rest") return turn.rest;
      if (turn.type === "running") await turn.settled;
    }
  }

  async #takeTurn(): Promise<Turn> {
    const decision = await this.#store.consult((point) => this.#decider.decide(point));
    if (decision.type === "idle" || decision.type === "blocked") return { type: "rest", rest: decision };
    if (decision.facts.length > 0) await this.#store.commit(decision.facts);
    if (decision.type === "commit") return { type: "written" };
    const controller = new AbortController();
    this.#effect = controller;
    const settled = this.#perform(decision.effect, controller.signal).finally(() => {
      this.#effect = undefined;
    });
    return { type: "running", settled };
  }

  async #perform(effect: Effect, signal: AbortSignal): Promise<void> {
    if (effect.type === "request") {
      const reply = await this.#world.request(effect.request, signal);
      await this.#settle(effect.request, (point) => requestOutcome(point, effect.request, reply));
    } else {
      const outcome = await this.#world.execute(effect.execution, signal);
      await this.#settle(undefined, (point) => toolOutcome(point, effect.call, outcome));
    }
  }

  /** Commits an outcome. An answer that the file refuses settles its attempt as failed. */
  #settle(request: ModelRequest | undefined, outcome: (point: RecoveryPoint) => NewFact[]): Promise<void> {
    return this.#inTurn(async () => {
      const facts = await this.#store.consult(outcome);
      try {
        await this.#store.commit(facts);
      } catch (error) {
        const isRefused = error instanceof SessionStoreError && error.code === "REFUSED";
        if (!isRefused || request === undefined) throw error;
        await this.#store.commit([failedStep(request, UNUSABLE_ANSWER_ERROR)]);
      }
    });
  }

  #isIdle(): Promise<boolean> {
    return this.#store.consult(({ state }) => state.operation.kind === "idle");
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turns.then(work);
    this.#turns = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }
}

/** What one turn of the drive came to. `settled` resolves when the outcome of the effect is on disk. */
type Turn =
  | { readonly type: "rest"; readonly rest: Rest }
  | { readonly type: "written" }
  | { readonly type: "running"; readonly settled: Promise<void> };

function abortFact(record: Extract<NewFact, { kind: "record" }>["record"]): NewFact {
  return { kind: "record", record };
}

/** The first place at or after a wanted one where no call is cut off from its result. */
function cutBefore(sources: readonly RetainedMessage[], wanted: number): number {
  let cut = wanted;
  while (sources[cut]?.message.role === "tool") cut += 1;
  return cut;
}
