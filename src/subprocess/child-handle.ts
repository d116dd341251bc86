/**
 * One child process, as its parent sees it: started ahead, given one batch, killed from outside.
 *
 * Invariant. `ended` never rejects; every child that was started comes to it, and is reaped.
 */
import type { ChildProgram } from "./bundle.ts";
import { Once } from "./once.ts";
import type { Announcement, Batch } from "./protocol.ts";
import { Spawned } from "./spawned.ts";

/** How a child came to its end. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote to standard output and error, or the last of it. */
  readonly lastWords: string;
}

/** See the module header. */
export class Child {
  readonly ended: Promise<ChildEnd>;
  readonly #spawned: Spawned;
  readonly #heard: Record<Announcement, Once> = { ready: new Once(), all: new Once() };
  #isOver = false;

  constructor(program: ChildProgram) {
    const spawned = new Spawned(program);
    this.#spawned = spawned;
    const { announcements } = spawned;
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
        resolve({ code, signal, lastWords: spawned.lastWords });
      };
      spawned.process.on("close", end);
      // A process that cannot even be started has no end to wait for.
      spawned.process.on("error", () => {
        if (spawned.process.pid === undefined) end(null, null);
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
    this.#spawned.send(batch);
  }

  /** Kills it from outside, at once. False if it was dead already. */
  kill(): boolean {
    return this.#spawned.process.kill("SIGKILL");
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
