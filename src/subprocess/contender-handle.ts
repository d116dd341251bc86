/**
 * One contender, as its parent sees it: told what to do, stopped and let go on by signals.
 *
 * Invariants.
 * 1. Commands are answered in order. One that is not answered because the process is gone is answered as `refused`.
 * 2. A stop counts only if the system says that the process stands still.
 */
import { readFileSync } from "node:fs";
import type { ChildProgram } from "./bundle.ts";
import type { ContenderCommand, ContenderState } from "./contender.ts";
import { Spawned } from "./spawned.ts";

/** See the module header. */
export class Contender {
  readonly ready: Promise<ContenderState>;
  readonly #spawned: Spawned;
  readonly #waiting: ((state: ContenderState) => void)[] = [];
  readonly #ended: Promise<void>;
  #end: ContenderState | undefined;

  constructor(program: ChildProgram) {
    const spawned = new Spawned(program);
    this.#spawned = spawned;
    spawned.hear((line) => this.#waiting.shift()?.(JSON.parse(line) as ContenderState));
    this.ready = this.#answer();
    this.#ended = spawned.ended.then(({ lastWords }) => {
      const message = `the process is gone; its last words: ${lastWords.trim() || "none"}`;
      this.#end = { at: "refused", name: "ProcessGone", message };
      for (const wake of this.#waiting.splice(0)) wake(this.#end);
    });
  }

  /** Tells it something. Resolves to where it stands then. */
  tell(command: ContenderCommand): Promise<ContenderState> {
    const answer = this.#answer();
    this.#spawned.send(command);
    return answer;
  }

  /** Stops it where it is. Resolves to whether it stands still. */
  async stop(): Promise<boolean> {
    if (!this.#spawned.process.kill("SIGSTOP")) return false;
    for (let look = 0; look < STOP_LOOKS_MAX; look++) {
      const state = stateOf(this.#spawned.process.pid);
      if (state === undefined || state === "T") return state === "T";
      await new Promise((resolve) => setImmediate(resolve));
    }
    return false;
  }

  /** Lets it go on. */
  goOn(): void {
    this.#spawned.process.kill("SIGCONT");
  }

  /** Ends it, and waits for its end. */
  async close(): Promise<void> {
    this.#spawned.process.kill("SIGKILL");
    await this.#ended;
  }

  #answer(): Promise<ContenderState> {
    if (this.#end !== undefined) return Promise.resolve(this.#end);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** A signal is delivered within a few turns of the event loop. */
const STOP_LOOKS_MAX = 10_000;

/** The state letter of a process, where the system has a file that says it. */
function stateOf(pid: number | undefined): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0];
  } catch {
    return undefined;
  }
}
