/**
 * The pool: real processes, killed with SIGKILL from outside while many sessions stand at their cuts.
 *
 * Terms. *State*: what one session left on its disk; one for each request. *Kill*: one SIGKILL. Many states come from
 * one kill, because a child holds many sessions, each at another boundary; they are counted apart. *Warm*: a child
 * that was started ahead and waits for work, so that starting costs nobody's time.
 *
 * Invariants.
 * 1. A state counts only if its session was noted to stand at its cut, and the child then died by our signal and
 *    by nothing else. Anything else is inconclusive, with what the child said last.
 * 2. A session that takes its child down, or never ends, costs itself and no other: sessions are walked in order, so
 *    it is the first that was not noted; the others get another child, with clean folders.
 * 3. Every request has exactly one outcome.
 * 4. No child outlives the pool, nor the process that made it.
 */
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../foundation/index.ts";
import type { ChildProgram } from "./bundle.ts";
import { Child } from "./child-handle.ts";
import { type KillOutcome, outcomesOf, type Talk } from "./outcome.ts";
import { batchOf, type KillRequest, readNotes } from "./protocol.ts";

export interface KillPoolOptions {
  readonly program: ChildProgram;
  readonly clock: Clock;
  /** Children that work at once. */
  readonly childCount?: number;
  /** The most sessions in one child. */
  readonly sessionsPerChild?: number;
  /** Host milliseconds without a word after which a child is given up, once it has said that it is ready. */
  readonly silenceLimitMs?: number;
  /** Host milliseconds that one session may take to reach its boundary. */
  readonly walkLimitMs?: number;
}

/** Host milliseconds in which a child must get ready: a busy machine is no broken program. */
const START_LIMIT_MS = 60_000;

/** Fewer sessions than this are not worth a child of their own. */
const SESSIONS_WORTH_A_CHILD = 16;

/** See the module header. */
export class KillPool {
  readonly #program: ChildProgram;
  readonly #clock: Clock;
  readonly #childCount: number;
  readonly #sessionsPerChild: number;
  readonly #silenceLimitMs: number;
  readonly #walkLimitMs: number;
  readonly #idle: Child[] = [];
  readonly #working = new Set<Child>();
  #keepsWarm = false;
  #stateCount = 0;
  #killCount = 0;

  constructor(options: KillPoolOptions) {
    this.#program = options.program;
    this.#clock = options.clock;
    this.#childCount = options.childCount ?? 2;
    this.#sessionsPerChild = options.sessionsPerChild ?? 64;
    this.#silenceLimitMs = options.silenceLimitMs ?? 30_000;
    this.#walkLimitMs = options.walkLimitMs ?? 10_000;
  }

  /** States that were left, and kills that left them. */
  get counts(): { readonly states: number; readonly kills: number } {
    return { states: this.#stateCount, kills: this.#killCount };
  }

  /** Starts children ahead, and keeps as many waiting from now on. */
  warm(): void {
    this.#keepsWarm = true;
    this.#refill();
  }

  /** Kills every request for real. Outcomes come as children die. */
  async *kill(requests: readonly KillRequest[]): AsyncGenerator<KillOutcome, void, void> {
    const batches = this.#deal(requests);
    const running = new Map<Child, Promise<Run>>();
    const fill = () => {
      while (running.size < this.#childCount) {
        const batch = batches.shift();
        if (batch === undefined) return;
        const child = this.#take();
        running.set(child, this.#run(child, batch));
      }
    };
    try {
      for (fill(); running.size > 0; ) {
        const { child, outcomes, again } = await Promise.race(running.values());
        running.delete(child);
        if (again.length > 0) batches.push([...again]);
        // The next child walks while the caller looks at what this one left.
        fill();
        yield* outcomes;
      }
    } finally {
      // Of a caller that has seen enough, nothing goes on.
      for (const child of running.keys()) child.kill();
    }
  }

  /** Ends the pool and waits until no child is left. */
  async close(): Promise<void> {
    this.#keepsWarm = false;
    const children = [...this.#idle.splice(0), ...this.#working];
    for (const child of children) child.kill();
    await Promise.all(children.map((child) => child.ended));
  }

  /** Batches of even weight: a later boundary costs a longer walk, so neighbours go to different children. */
  #deal(requests: readonly KillRequest[]): KillRequest[][] {
    const evenCount = Math.max(SESSIONS_WORTH_A_CHILD, Math.ceil(requests.length / this.#childCount));
    const batchCount = Math.ceil(requests.length / Math.min(this.#sessionsPerChild, evenCount));
    const batches: KillRequest[][] = Array.from({ length: batchCount }, () => []);
    for (const [index, request] of requests.entries()) batches[index % batchCount]?.push(request);
    return batches;
  }

  #take(): Child {
    let child = this.#idle.shift();
    while (child?.isOver === true) child = this.#idle.shift();
    child ??= new Child(this.#program);
    this.#working.add(child);
    if (this.#keepsWarm) this.#refill();
    return child;
  }

  #refill(): void {
    while (this.#idle.length < this.#childCount) this.#idle.push(new Child(this.#program));
  }

  async #run(child: Child, batch: readonly KillRequest[]): Promise<Run> {
    const notesPath = this.#prepare(batch);
    child.send(batchOf(batch, { notesPath, walkLimitMs: this.#walkLimitMs }));
    const ended = await this.#endOf(child, notesPath);
    const sent = child.kill();
    const end = await child.ended;
    this.#working.delete(child);
    const byOurHand = sent && end.signal === "SIGKILL";
    const talk = { ended, isReady: child.ready.hasHappened, notes: readNotes(notesPath) };
    rmSync(notesPath, { force: true });
    const { outcomes, again } = outcomesOf(batch, talk, end, byOurHand);
    if (byOurHand) this.#killCount++;
    this.#stateCount += outcomes.filter((outcome) => outcome.kind === "killed").length;
    return { child, outcomes, again };
  }

  /** Makes room for the sessions of a batch. Returns where they are noted: beside the first one's disk. */
  #prepare(batch: readonly KillRequest[]): string {
    for (const { folder } of batch) {
      if (existsSync(folder)) rmSync(folder, { recursive: true });
      mkdirSync(folder, { recursive: true });
    }
    return join(batch[0]?.folder ?? "", "notes.jsonl");
  }

  /** Until the child has announced everything, has died, or has done nothing for too long. */
  async #endOf(child: Child, notesPath: string): Promise<Talk["ended"]> {
    const over = new AbortController();
    const ended = await Promise.race([
      child.all.happened.then(() => "announced" as const),
      child.ended.then(() => "died" as const),
      this.#silence(child, notesPath, over.signal),
    ]);
    over.abort();
    return ended;
  }

  /** Resolves when the child does not get ready, or makes no more notes; at the latest when it is over. */
  async #silence(child: Child, notesPath: string, over: AbortSignal): Promise<"silent"> {
    await Promise.race([child.ready.happened, this.#clock.sleep(START_LIMIT_MS, over)]);
    for (let before = -1, now = 0; child.ready.hasHappened && now > before && !over.aborted; ) {
      before = now;
      await this.#clock.sleep(this.#silenceLimitMs, over);
      now = statSync(notesPath, { throwIfNoEntry: false })?.size ?? 0;
    }
    return "silent";
  }
}

/** How one child's work came out. */
interface Run {
  readonly child: Child;
  readonly outcomes: readonly KillOutcome[];
  /** To be tried again in another child. */
  readonly again: readonly KillRequest[];
}
