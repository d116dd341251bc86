/**
 * One contender, as its parent sees it: told what to do, stopped and let go on by signals.
 *
 * Invariants.
 * 1. Commands are answered in order. One that is not answered because the process is gone is answered as `refused`.
 * 2. A stop counts only if the system says that the process stands still.
 * 3. A contender does not outlive its parent.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { ChildProgram } from "./bundle.ts";
import { cleanEnvironment, watch } from "./child-handle.ts";
import type { ContenderCommand, ContenderState } from "./contender.ts";
import { ANNOUNCE_DESCRIPTOR } from "./protocol.ts";

/** See the module header. */
export class Contender {
  readonly ready: Promise<ContenderState>;
  readonly #process: ChildProcess;
  readonly #waiting: ((state: ContenderState) => void)[] = [];
  readonly #ended: Promise<void>;
  #end: ContenderState | undefined;
  #lastWords = "";

  constructor({ launcher, program, codeCache, requireFrom }: ChildProgram) {
    this.#process = spawn(process.execPath, [launcher, program, codeCache, requireFrom], {
      env: cleanEnvironment(),
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    watch(this.#process);
    const { stdin, stdout, stderr } = this.#process;
    stdin?.on("error", () => undefined);
    for (const output of [stdout, stderr]) {
      output?.on("data", (data: Buffer) => {
        this.#lastWords = (this.#lastWords + String(data)).slice(-LAST_WORDS_MAX);
      });
    }
    const said = createInterface({ input: this.#process.stdio[ANNOUNCE_DESCRIPTOR] as Readable });
    said.on("line", (line) => this.#waiting.shift()?.(JSON.parse(line) as ContenderState));
    this.ready = this.#answer();
    this.#ended = new Promise((resolve) => {
      const end = () => {
        const message = `the process is gone; its last words: ${this.#lastWords.trim() || "none"}`;
        this.#end = { at: "refused", name: "ProcessGone", message };
        for (const wake of this.#waiting.splice(0)) wake(this.#end);
        resolve();
      };
      this.#process.on("close", end);
      this.#process.on("error", end);
    });
  }

  /** Tells it something. Resolves to where it stands then. */
  tell(command: ContenderCommand): Promise<ContenderState> {
    const answer = this.#answer();
    this.#process.stdin?.write(`${JSON.stringify(command)}\n`);
    return answer;
  }

  /** Stops it where it is. Resolves to whether it stands still. */
  async stop(): Promise<boolean> {
    if (!this.#process.kill("SIGSTOP")) return false;
    for (let look = 0; look < STOP_LOOKS_MAX; look++) {
      const state = stateOf(this.#process.pid);
      if (state === undefined || state === "T") return state === "T";
      await new Promise((resolve) => setImmediate(resolve));
    }
    return false;
  }

  /** Lets it go on. */
  goOn(): void {
    this.#process.kill("SIGCONT");
  }

  /** Ends it, and waits for its end. */
  async close(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  #answer(): Promise<ContenderState> {
    if (this.#end !== undefined) return Promise.resolve(this.#end);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

const LAST_WORDS_MAX = 4_000;
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
