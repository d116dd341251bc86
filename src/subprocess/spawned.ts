/**
 * A process that runs one of the package's programs, as it is started and heard.
 *
 * Written on `node:child_process` and not on a library: what is wanted of a child is a pipe, its last words, a signal
 * and its exit, and a library for it costs every start of the command a tenth of a second.
 *
 * Invariants.
 * 1. The environment is empty but for the time zone: no loader, option or setting of the parent's reaches a child.
 * 2. A child does not outlive its parent: it is killed when the parent exits, and its pipe ends when the parent dies.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { ChildProgram } from "./bundle.ts";
import { ANNOUNCE_DESCRIPTOR } from "./protocol.ts";

/** See the module header. */
export class Spawned {
  readonly process: ChildProcess;
  #lastWords = "";

  constructor({ launcher, program, codeCache, requireFrom }: ChildProgram) {
    this.process = spawn(process.execPath, [launcher, program, codeCache, requireFrom], {
      env: cleanEnvironment(),
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    killAtExit(this.process);
    const { stdin, stdout, stderr } = this.process;
    // A pipe to a child that has died breaks; its end says more than that.
    stdin?.on("error", () => undefined);
    for (const output of [stdout, stderr]) output?.on("data", (data: Buffer) => this.#keep(String(data)));
    // Of one that could not even be started, this is all that there is.
    this.process.on("error", (error) => this.#keep(String(error)));
  }

  /** What it announces. */
  get announcements(): Readable {
    return this.process.stdio[ANNOUNCE_DESCRIPTOR] as Readable;
  }

  /** What it wrote to standard output and error, or the last of it. */
  get lastWords(): string {
    return this.#lastWords;
  }

  /** Sends it a line of JSON. */
  send(value: object): void {
    this.process.stdin?.write(`${JSON.stringify(value)}\n`);
  }

  #keep(words: string): void {
    this.#lastWords = (this.#lastWords + words).slice(-LAST_WORDS_MAX);
  }
}

/** Characters of a child's output that are kept. */
const LAST_WORDS_MAX = 4_000;

/** Windows does not start a program without its root. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot } = process.env;
  return SystemRoot === undefined ? { TZ: "UTC" } : { TZ: "UTC", SystemRoot };
}

const alive = new Set<ChildProcess>();
let isWatching = false;

function killAtExit(child: ChildProcess): void {
  alive.add(child);
  child.once("close", () => alive.delete(child));
  if (isWatching) return;
  isWatching = true;
  process.on("exit", () => {
    for (const item of alive) item.kill("SIGKILL");
  });
}
