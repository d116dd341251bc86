/**
 * A process that runs one of the package's programs, as it is started and heard until its end.
 *
 * Written on `node:child_process` and not on a library: what is wanted of a child is a pipe, its last words, a signal
 * and its exit, and a library for it costs every start of the command a tenth of a second.
 *
 * Invariants.
 * 1. The environment is empty but for the time zone: no loader, option or setting of the parent's reaches a child.
 * 2. A child does not outlive its parent: it is killed when the parent exits, and its pipe ends when the parent dies.
 * 3. `ended` never rejects; every process comes to it, and is reaped.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { ChildProgram } from "./bundle.ts";
import { ANNOUNCE_DESCRIPTOR } from "./protocol.ts";

/** How a process came to its end. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote to standard output and error, or the last of it. */
  readonly lastWords: string;
}

/** See the module header. */
export class Spawned {
  readonly process: ChildProcess;
  readonly ended: Promise<ProcessEnd>;
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
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) =>
        resolve({ code, signal, lastWords: this.#lastWords });
      this.process.on("close", end);
      this.process.on("error", (error) => {
        this.#keep(String(error));
        // A process that cannot even be started has no end to wait for, and these are all its words.
        if (this.process.pid === undefined) end(null, null);
      });
    });
  }

  /** Hands on each line that it announces. */
  hear(take: (line: string) => void): void {
    const announcements = this.process.stdio[ANNOUNCE_DESCRIPTOR] as Readable;
    announcements.setEncoding("utf8");
    announcements.on("data", lines(take));
  }

  /** Sends it a line of JSON. */
  send(value: object): void {
    this.process.stdin?.write(`${JSON.stringify(value)}\n`);
  }

  #keep(words: string): void {
    this.#lastWords = (this.#lastWords + words).slice(-LAST_WORDS_MAX);
  }
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
