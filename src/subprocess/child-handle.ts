/**
 * One child process, as its parent sees it: started ahead, given one batch, killed from outside.
 *
 * Written on `node:child_process` and not on a library: what is wanted of a child is a pipe, its last words, a signal
 * and its exit, and a library for it costs every start of the command a tenth of a second.
 *
 * Invariants.
 * 1. The environment is empty but for the time zone: no loader, option or setting of the parent's reaches a child.
 * 2. A child does not outlive its parent: it is killed when the parent exits, and its pipe ends when the parent dies.
 * 3. `ended` never rejects; every child that was started comes to it, and is reaped.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { ChildProgram } from "./bundle.ts";
import { Once } from "./once.ts";
import { ANNOUNCE_DESCRIPTOR, type Announcement, type Batch } from "./protocol.ts";

/** How a child came to its end. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote to standard output and error, or the last of it. */
  readonly lastWords: string;
}

/** Characters of a child's output that are kept. */
const LAST_WORDS_MAX = 4_000;

const alive = new Set<ChildProcess>();

/** See the module header. */
export class Child {
  readonly ended: Promise<ChildEnd>;
  readonly #process: ChildProcess;
  readonly #heard: Record<Announcement, Once> = { ready: new Once(), all: new Once() };
  #lastWords = "";
  #isOver = false;

  constructor({ launcher, program, codeCache, requireFrom }: ChildProgram) {
    this.#process = spawn(process.execPath, [launcher, program, codeCache, requireFrom], {
      env: cleanEnvironment(),
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    watch(this.#process);
    const { stdin, stdout, stderr } = this.#process;
    // A pipe to a child that has died breaks; its end says more than that.
    stdin?.on("error", () => undefined);
    for (const output of [stdout, stderr]) output?.on("data", (data: Buffer) => this.#keep(String(data)));
    const announcements = this.#process.stdio[ANNOUNCE_DESCRIPTOR] as Readable;
    announcements.setEncoding("utf8");
    announcements.on(
      "data",
      lines((line) => {
        if (line === "ready" || line === "all") this.#heard[line].happen();
      }),
    );
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        this.#isOver = true;
        resolve({ code, signal, lastWords: this.#lastWords });
      };
      this.#process.on("close", end);
      // A process that cannot even be started has no end to wait for.
      this.#process.on("error", (error) => {
        this.#keep(String(error));
        if (this.#process.pid === undefined) end(null, null);
      });
    });
  }

  /** Whether it has come to its end. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The program is loaded; perhaps it never is. */
  get ready(): Once {
    return this.#heard.ready;
  }

  /** Every session of the batch is noted. */
  get all(): Once {
    return this.#heard.all;
  }

  /** Gives the child its batch. */
  send(batch: Batch): void {
    (this.#process.stdin as Writable).write(`${JSON.stringify(batch)}\n`);
  }

  /** Kills it from outside, at once. False if it was dead already. */
  kill(): boolean {
    return this.#process.kill("SIGKILL");
  }

  #keep(words: string): void {
    this.#lastWords = (this.#lastWords + words).slice(-LAST_WORDS_MAX);
  }
}

/** Windows does not start a program without its root. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot } = process.env;
  return SystemRoot === undefined ? { TZ: "UTC" } : { TZ: "UTC", SystemRoot };
}

let watching = false;

/** Kills a process when this one exits. */
export function watch(child: ChildProcess): void {
  alive.add(child);
  child.once("close", () => alive.delete(child));
  if (watching) return;
  watching = true;
  process.on("exit", () => {
    for (const item of alive) item.kill("SIGKILL");
  });
}

/** Puts chunks together to lines. */
function lines(take: (line: string) => void): (chunk: string) => void {
  let rest = "";
  return (chunk) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) take(part);
  };
}
