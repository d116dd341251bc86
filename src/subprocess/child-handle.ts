/** One child process, as its parent sees it: started ahead, given one batch, killed from outside. */
import type { ChildProgram } from "./bundle.ts";
import { Once } from "./once.ts";
import type { Announcement, Batch } from "./protocol.ts";
import { type ProcessEnd, Spawned } from "./spawned.ts";

/** See the module header. */
export class Child {
  readonly ended: Promise<ProcessEnd>;
  readonly #spawned: Spawned;
  readonly #heard: Record<Announcement, Once> = { ready: new Once(), all: new Once() };
  #isOver = false;

  constructor(program: ChildProgram) {
    const spawned = new Spawned(program);
    this.#spawned = spawned;
    spawned.hear((line) => {
      if (line === "ready" || line === "all") this.#heard[line].happen();
    });
    this.ended = spawned.ended.then((end) => {
      this.#isOver = true;
      return end;
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
