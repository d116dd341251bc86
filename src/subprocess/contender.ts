/**
 * The contender: a real process that opens a session which other processes want too, step by step as its parent says.
 *
 * It runs many sessions, one after another. Each command on standard input is one line of JSON, and is answered by one
 * line on the announcement descriptor. It dies with its parent, whose end of the pipe it reads.
 *
 * Its clock is virtual and begins where the parent says: a lease of an owner that stands still has run out as soon as
 * another process's clock says so. Only a wait for somebody else's claim is real: the contender says that it waits, and
 * goes on when its parent wakes it.
 */
import { existsSync, mkdirSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { boundaryName, FileLedger, Gate, type Scenario, Timeline, World } from "../faults/index.ts";
import { VirtualClock } from "../foundation/index.ts";
import type { Incarnation, Subject } from "../subject/index.ts";
import type { ProgramHooks, SubjectRegistry } from "./child.ts";
import { ANNOUNCE_DESCRIPTOR, diskFolderOf, ledgerPathOf } from "./protocol.ts";

/** What a parent tells a contender. */
export type ContenderCommand =
  /** Takes a session up, without opening it yet. One whose folder has no disk is made. */
  | {
      readonly say: "take";
      readonly subject: string;
      readonly scenario: Scenario;
      readonly seed: number;
      readonly folder: string;
      /** 0 for the first life on the disk. */
      readonly incarnation: number;
      /** What its clock says, Unix ms. */
      readonly nowMs: number;
    }
  /** Opens the session and goes on to the first boundary. */
  | { readonly say: "boot" }
  /** Goes on to before the commit of that index, from 0. */
  | { readonly say: "walk"; readonly commitIndex: number }
  /** Crosses what it stands before, and goes on to the next boundary. */
  | { readonly say: "cross" }
  /** Ends the wait for somebody else's claim. */
  | { readonly say: "wake" }
  /** Goes on to the end, and lets the session go. */
  | { readonly say: "finish" }
  /** Drops the session, as death does. */
  | { readonly say: "drop" };

/** Where a contender stands after a command. */
export type ContenderState =
  | { readonly at: "ready" | "dropped" }
  | { readonly at: "parked"; readonly boundary: string }
  /** Somebody else has the session. */
  | { readonly at: "waiting" }
  /** The life came to its end, and is closed after `finish`. */
  | { readonly at: "done" }
  | { readonly at: "refused"; readonly name: string; readonly message: string };

/** Runs the contender over the process's own pipes, until its parent is gone. */
export async function runContender(subjects: SubjectRegistry, hooks: ProgramHooks): Promise<never> {
  let session: ContestedSession | undefined;
  const lines = createInterface({ input: process.stdin });
  lines.on("close", () => process.exit(0));
  answer({ at: "ready" });
  for await (const line of lines) {
    const command = JSON.parse(line) as ContenderCommand;
    if (command.say === "take") {
      session?.drop();
      const taken: ContestedSession | ContenderState = await ContestedSession.take(command, subjects).catch(
        refusalOf,
      );
      session = taken instanceof ContestedSession ? taken : undefined;
      answer(session === undefined ? (taken as ContenderState) : { at: "ready" });
    } else {
      answer(session === undefined ? { at: "dropped" } : await session.obey(command));
      if (command.say === "finish") hooks.warmed();
    }
  }
  return new Promise(() => undefined);
}

function answer(state: ContenderState): void {
  writeSync(ANNOUNCE_DESCRIPTOR, `${JSON.stringify(state)}\n`);
}

function refusalOf(error: unknown): Extract<ContenderState, { at: "refused" }> {
  const { name, message } = error instanceof Error ? error : { name: "unknown", message: String(error) };
  return { at: "refused", name, message };
}

/** A clock whose sleep is a wait for somebody else, until the session is open. */
class ContenderClock extends VirtualClock {
  readonly #gate: Gate;
  #wake: ((isDropped: boolean) => void) | undefined;
  #told: () => void = () => undefined;

  constructor(startMs: number, gate: Gate) {
    super(startMs);
    this.#gate = gate;
  }

  /** Resolves when it waits. */
  waits(): Promise<void> {
    return this.#wake === undefined
      ? new Promise((resolve) => {
          this.#told = resolve;
        })
      : Promise.resolve();
  }

  wake(isDropped = false): void {
    this.#wake?.(isDropped);
    this.#wake = undefined;
  }

  override async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (this.#gate.crossedCount === 0 && this.#gate.parked.length === 0) {
      const isDropped = await new Promise<boolean>((resolve) => {
        this.#wake = resolve;
        this.#told();
      });
      if (isDropped) throw new Error("the wait for another process was given up");
    }
    await super.sleep(delayMs, signal);
  }
}

/** One session that this process wants. */
class ContestedSession {
  readonly #boot: () => Incarnation;
  readonly #gate: Gate;
  readonly #clock: ContenderClock;
  readonly #ledger: FileLedger;
  #incarnation: Incarnation | undefined;
  #commitsSeen = 0;
  #ended: Promise<ContenderState> = new Promise(() => undefined);

  private constructor(gate: Gate, clock: ContenderClock, ledger: FileLedger, boot: () => Incarnation) {
    this.#gate = gate;
    this.#clock = clock;
    this.#ledger = ledger;
    this.#boot = boot;
  }

  static async take(
    { subject: id, scenario, seed, folder, incarnation, nowMs }: Extract<ContenderCommand, { say: "take" }>,
    subjects: SubjectRegistry,
  ): Promise<ContestedSession> {
    const subject: Subject | undefined = subjects(id);
    if (subject === undefined) throw new Error(`this program knows no subject ${id}`);
    const diskFolder = diskFolderOf(folder);
    const isThere = existsSync(diskFolder);
    mkdirSync(diskFolder, { recursive: true });
    const disk = isThere ? subject.attach(diskFolder) : await subject.provision({ seed, folder: diskFolder });
    if (disk === undefined) throw new Error(`a disk of ${id} does not outlive its process`);
    const gate = new Gate({ open: false });
    const clock = new ContenderClock(nowMs, gate);
    const ledger = new FileLedger(ledgerPathOf(folder));
    const world = new World(scenario, clock, ledger);
    const drive = subject.drives[0] ?? "automatic";
    const timeline = new Timeline();
    const life = { disk, world, scenario, seed, incarnation, gate, timeline, drive, isNamed: true };
    return new ContestedSession(gate, clock, ledger, () => subject.boot(life));
  }

  async obey({ say, ...more }: Exclude<ContenderCommand, { say: "take" }>): Promise<ContenderState> {
    switch (say) {
      case "boot":
        return this.#begin();
      case "walk":
        return this.#walk((more as { commitIndex: number }).commitIndex);
      case "cross":
        return this.#cross();
      case "wake":
        this.#clock.wake();
        return this.#stand();
      case "finish":
        return this.#finish();
      case "drop":
        this.drop();
        return { at: "dropped" };
    }
  }

  drop(): void {
    this.#gate.drop();
    this.#incarnation?.drop();
    this.#clock.wake(true);
    this.#ledger.close();
  }

  #begin(): Promise<ContenderState> {
    const incarnation = this.#boot();
    this.#incarnation = incarnation;
    this.#ended = incarnation.life.then(() => ({ at: "done" }) as const, refusalOf);
    return this.#stand();
  }

  /** Waits until it stands: at a boundary, in a queue, or at its end. */
  async #stand(): Promise<ContenderState> {
    const quiet = this.#gate.quiet(this.#ended).then(() => this.#here());
    const waiting = this.#clock.waits().then(() => ({ at: "waiting" }) as const);
    return Promise.race([quiet, waiting]);
  }

  #here(): ContenderState | Promise<ContenderState> {
    const [boundary] = this.#gate.parked;
    return boundary === undefined ? this.#ended : { at: "parked", boundary: boundaryName(boundary) };
  }

  async #walk(commitIndex: number): Promise<ContenderState> {
    for (;;) {
      const state = await this.#stand();
      const [boundary] = this.#gate.parked;
      if (state.at !== "parked" || boundary === undefined) return state;
      if (boundary.kind === "commit" && this.#commitsSeen++ === commitIndex) return state;
      this.#gate.release(boundary);
    }
  }

  async #cross(): Promise<ContenderState> {
    const [boundary] = this.#gate.parked;
    if (boundary === undefined) return this.#stand();
    this.#gate.release(boundary);
    return this.#stand();
  }

  async #finish(): Promise<ContenderState> {
    this.#gate.open();
    const state = await this.#ended;
    try {
      if (state.at === "done") await this.#incarnation?.close();
      else this.#incarnation?.drop();
    } catch (error) {
      return refusalOf(error);
    } finally {
      this.#ledger.close();
    }
    return state;
  }
}
