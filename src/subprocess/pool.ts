/**
 * The pool: real processes, killed with SIGKILL from outside while many sessions stand at their cuts.
 *
 * Terms. *State*: what one session left on its disk; one for each request. *Kill*: one SIGKILL. Many states come from
 * one kill, because a child holds many sessions, each at another boundary; they are counted apart. *Warm*: a child
 * that was started ahead and waits for work, so that starting costs nobody's time.
 *
 * Invariants.
 * 1. A state counts only if its session had said that it stands at its cut, and the child then died by our signal and
 *    by nothing else. Anything else is inconclusive, with what the child said last.
 * 2. A session that takes its child down, or never ends, costs itself and no other: sessions are walked in order, so
 *    it is the first that was not announced; the others get another child, with clean folders.
 * 3. Every request has exactly one outcome.
 * 4. No child outlives the pool, nor the process that made it.
 */
import { rmSync } from "node:fs";
import type { Clock } from "../foundation/index.ts";
import type { ChildProgram } from "./bundle.ts";
import { Child } from "./child-handle.ts";
import { type KillOutcome, outcomesOf, type SessionAnnouncement, type Talk } from "./outcome.ts";
import { batchOf, type KillRequest } from "./protocol.ts";

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
    for (const { folder } of batch) rmSync(folder, { recursive: true, force: true });
    const talk = await this.#converse(child, batch);
    const sent = child.kill();
    const end = await child.ended;
    this.#working.delete(child);
    const byOurHand = sent && end.signal === "SIGKILL";
    const { outcomes, again } = outcomesOf(batch, talk, end, byOurHand);
    if (byOurHand) this.#killCount++;
    this.#stateCount += outcomes.filter((outcome) => outcome.kind === "killed").length;
    return { child, outcomes, again };
  }

  /** Until the child has announced everything, has died, or has been silent for too long. */
  #converse(child: Child, batch: readonly KillRequest[]): Promise<Talk> {
    return new Promise((resolve) => {
      const announced: SessionAnnouncement[] = [];
      const over = new AbortController();
      let heardCount = 0;
      let hearFirst: () => void = () => undefined;
      const first = new Promise<void>((heard) => {
        hearFirst = heard;
      });
      const finish = (ended: Talk["ended"]) => {
        over.abort();
        resolve({ ended, isReady: heardCount > 0, announced });
      };
      void child.ended.then(() => finish("died"));
      child.listen((announcement) => {
        heardCount++;
        hearFirst();
        if (announcement.kind === "all") finish("announced");
        else if (announcement.kind !== "ready") announced.push(announcement);
      });
      void this.#silence(first, () => heardCount, over.signal).then(
        (isSilent) => isSilent && finish("silent"),
      );
      child.send(batchOf(batch, this.#walkLimitMs));
    });
  }

  /** Whether nothing was heard for the limit; false once it does not matter any more. */
  async #silence(first: Promise<void>, heardCount: () => number, over: AbortSignal): Promise<boolean> {
    await Promise.race([first, this.#clock.sleep(START_LIMIT_MS, over)]);
    for (let before = 0; heardCount() > before; ) {
      before = heardCount();
      await this.#clock.sleep(this.#silenceLimitMs, over);
      if (over.aborted) return false;
    }
    return !over.aborted;
  }
}

/** How one child's work came out. */
interface Run {
  readonly child: Child;
  readonly outcomes: readonly KillOutcome[];
  /** To be tried again in another child. */
  readonly again: readonly KillRequest[];
}
