/**
 * The ring: what rounds are made with. Processes that take one session after another, and the session that they want now.
 *
 * Invariants.
 * 1. A process that is gone, or does not answer, is refused under a name of its own: that it was kept out is not to be told
 *    from that.
 * 2. After a round no process holds its session, and the folder of the session is gone.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readLedger } from "../../faults/index.ts";
import { VIRTUAL_EPOCH_MS } from "../../foundation/index.ts";
import type { View } from "../../subject/index.ts";
import {
  type Contender,
  type ContenderCommand,
  type ContenderState,
  copyFolder,
  ledgerPathOf,
} from "../../subprocess/index.ts";
import type { Finding } from "../judgement.ts";
import { exactTextOf, viewLeftBy } from "../readable.ts";
import type { RunContext } from "../standing.ts";
import type { Stand } from "./stands.ts";

/** A process that wants a session, as rounds use it. */
export type Opener = Pick<Contender, "tell" | "stop" | "goOn">;

/** See the module header. */
export interface Ring {
  readonly context: RunContext;
  /** Where sessions are; one folder a round. */
  readonly folder: string;
  /** Processes that run already. */
  readonly contenders: readonly Opener[];
}

/** The first two processes. */
export function pairOf({ contenders }: Ring): readonly [Opener, Opener] {
  const [one, other] = contenders;
  if (one === undefined || other === undefined) throw new RangeError("a round needs two processes at least");
  return [one, other];
}

/** Makes a round over a session in a folder of its own: a copy of another one, or a new one. */
export async function overSession(
  ring: Ring,
  stand: Stand,
  { name, from }: { readonly name: string; readonly from?: string },
  round: (session: Session) => Promise<Finding>,
): Promise<Finding> {
  const session = new Session(ring.context, stand, join(ring.folder, name));
  if (from === undefined) mkdirSync(session.folder, { recursive: true });
  else copyFolder(from, session.folder);
  try {
    return await round(session);
  } finally {
    for (const one of ring.contenders) await session.ask(one, { say: "drop" });
    rmSync(session.folder, { recursive: true, force: true });
  }
}

/** A session that is wanted where its owner stands: what processes are told of it, and what it looks like from outside. */
export class Session {
  readonly folder: string;
  readonly #context: RunContext;
  readonly #stand: Stand;

  constructor(context: RunContext, stand: Stand, folder: string) {
    this.#context = context;
    this.#stand = stand;
    this.folder = folder;
  }

  /** A first life on it, up to before the commit of the stand. */
  async ownedBy(owner: Opener): Promise<ContenderState> {
    const taken = await this.#take(owner, 0, VIRTUAL_EPOCH_MS);
    if (taken.at !== "ready") return taken;
    await this.ask(owner, { say: "boot" });
    return this.ask(owner, { say: "walk", commitIndex: this.#stand.commitIndex });
  }

  /** Lets a process take it up after the owner's claim has run out, without opening it yet. */
  take(one: Opener): Promise<ContenderState> {
    return this.#take(one, 1, this.#stand.nextMs);
  }

  #take(one: Opener, incarnation: number, nowMs: number): Promise<ContenderState> {
    const { subject, scenario, seed } = this.#context;
    const { folder } = this;
    return this.ask(one, { say: "take", subject: subject.id, scenario, seed, folder, incarnation, nowMs });
  }

  /** Tells a process something; one that does not answer is refused as stalled. */
  async ask(one: Opener, command: ContenderCommand): Promise<ContenderState> {
    const answer = await this.#context.watchdog.guard(() => 0, one.tell(command));
    const message = `the process did not answer to ${command.say}`;
    return answer === "stalled" ? { at: "refused", name: "Stalled", message } : answer;
  }

  /** What is durable. */
  view(): Promise<View> {
    return viewLeftBy(this.#context, this.folder, this.#stand.downtimes);
  }

  /** What is durable and how much happened outside, to be held against what is there later. */
  async seen(): Promise<{ readonly exact: string; readonly rowCount: number }> {
    const exact = await exactTextOf(this.view());
    return { exact, rowCount: readLedger(ledgerPathOf(this.folder)).length };
  }
}

/** Whether a process has the session. */
export function isIn(state: ContenderState | undefined): boolean {
  return state?.at === "parked" || state?.at === "done";
}

/** Whether the process itself came to nothing. */
export function isLost(state: ContenderState): boolean {
  return state.at === "refused" && (state.name === "ProcessGone" || state.name === "Stalled");
}

export function wordOf(state: ContenderState): string {
  if (state.at === "refused") return `refused by ${state.name}: ${state.message}`;
  return state.at === "parked" ? `before ${state.boundary}` : state.at;
}
