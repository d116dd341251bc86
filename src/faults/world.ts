/**
 * The scripted world: everything outside that an effect can touch, and the witness of what really happened.
 *
 * A world outlives a crash. It holds the provider's bill (every request that was sent) and the effect ledger (every
 * tool execution that took place); with a file it holds them across processes too. It knows no runtime: adapters in
 * `subject/` translate a runtime's provider and tool interfaces into `request` and `execute`.
 *
 * Invariants.
 * 1. A row is in the bill or in the ledger before its answer exists: what happened is never forgotten, whatever dies.
 * 2. An answer depends on the scenario, the turn and the ask (of a summary: the work, the request and the attempt), and
 *    on nothing else. So a request that is repeated after
 *    a crash gets the answer that the lost one would have got, and "ran twice" (two rows of one turn and ask) can be
 *    told from "was answered differently".
 * 3. Each effect is one boundary: `before` it nothing is in the rows; `inside` it the row exists and the answer does
 *    not reach the runtime.
 */
import type { JsonValue, VirtualClock } from "../foundation/index.ts";
import { canonicalJson } from "../foundation/index.ts";
import type { Boundary } from "./boundary.ts";
import type { Gate } from "./gate.ts";
import {
  type Scenario,
  type ScriptedDecision,
  type ScriptedReply,
  type ScriptedTool,
  type ScriptedUsage,
  turnReply,
} from "./scenario.ts";
import type { Timeline } from "./timeline.ts";
import type { BillRow, ShownMessage, SummaryRow, WorldRow } from "./world-row.ts";

/** The labels of the world's effects. */
export const REQUEST_LABEL = "provider.request";
export const POLL_LABEL = "provider.poll";
export const CANCELLATION_LABEL = "provider.cancel";
export const SUMMARY_LABEL = "provider.summary";
export const DECISION_LABEL = "hook.decide";
export const TOOL_LABEL = "tool.execute";
export const TIMER_LABEL = "timer.sleep";
/** All of them. */
export const EFFECT_LABELS = [
  REQUEST_LABEL,
  POLL_LABEL,
  CANCELLATION_LABEL,
  SUMMARY_LABEL,
  DECISION_LABEL,
  TOOL_LABEL,
  TIMER_LABEL,
] as const;

/** What a tool execution answers. */
export interface ScriptedToolAnswer {
  readonly text: string;
  readonly terminate: boolean;
  readonly usage: ScriptedUsage | undefined;
}

/** Where a world keeps its rows: memory, or a file for worlds that outlive a real process. */
export interface WorldLedger {
  readonly rows: readonly WorldRow[];
  append(row: WorldRow): void;
}

/** The rows of a world in memory. */
export class MemoryLedger implements WorldLedger {
  readonly #rows: WorldRow[];

  constructor(rows: readonly WorldRow[] = []) {
    this.#rows = [...rows];
  }

  get rows(): readonly WorldRow[] {
    return this.#rows;
  }

  append(row: WorldRow): void {
    this.#rows.push(row);
  }
}

/** What an effect passes through in one life of the process. */
export interface WorldAccess {
  readonly gate: Gate;
  readonly timeline: Timeline;
  /** The life, from 0: a model may say something else to a process that was restarted. */
  readonly life?: number;
}

/** See the module header. */
export class World {
  readonly scenario: Scenario;
  readonly clock: VirtualClock;
  readonly #ledger: WorldLedger;

  constructor(scenario: Scenario, clock: VirtualClock, ledger: WorldLedger = new MemoryLedger()) {
    this.scenario = scenario;
    this.clock = clock;
    this.#ledger = ledger;
  }

  get rows(): readonly WorldRow[] {
    return this.#ledger.rows;
  }

  /** A copy that shares nothing: the world as it is now, for one cut. `clock` is the copy's own. */
  fork(clock: VirtualClock): World {
    return new World(this.scenario, clock, new MemoryLedger(this.#ledger.rows));
  }

  /**
   * Sends a request of a turn; `ask`, `lane` and `shown` as in {@link BillRow}. Rejects with `ScriptExhausted` if the scenario has
   * no such turn.
   */
  request(
    access: WorldAccess,
    turn: number,
    ask: number,
    lane?: string,
    shown?: readonly ShownMessage[],
  ): Promise<ScriptedReply> {
    return this.#ask(access, REQUEST_LABEL, { turn, ask, lane }, shown === undefined ? {} : { shown });
  }

  /** Polls the deferred job of a turn: one more ask of it. */
  poll(
    access: WorldAccess,
    turn: number,
    ask: number,
    lane: string | undefined,
    job: string,
  ): Promise<ScriptedReply> {
    return this.#ask(access, POLL_LABEL, { turn, ask, lane }, { job });
  }

  /** Gives a deferred job up. */
  cancelJob(access: WorldAccess, job: string): Promise<void> {
    return this.#effect(access, CANCELLATION_LABEL, () => ({
      row: { kind: "cancellation", job },
      answer: () => undefined,
    }));
  }

  #ask(
    access: WorldAccess,
    label: string,
    { turn, ask, lane }: { readonly turn: number; readonly ask: number; readonly lane: string | undefined },
    of: Pick<BillRow, "shown" | "job">,
  ): Promise<ScriptedReply> {
    return this.#effect(access, label, () => {
      const reply = turnReply(this.scenario, { turn, ask, lane }, access.life ?? 0);
      if (reply === undefined) throw new ScriptExhausted(this.scenario.name, `turn ${turn}`);
      if (access.life && reply !== turnReply(this.scenario, { turn, ask, lane }, 0)) {
        access.timeline.push({ kind: "fault", name: "other answer than before the restart" });
      }
      const whose = lane === undefined ? {} : { lane };
      const row = { kind: "request", ...whose, turn, ask, usage: reply.usage, ...of } as const;
      return { row, answer: () => reply };
    });
  }

  /** Sends a request for a summary; the rest as in {@link SummaryRow}. Rejects as `request` does. */
  requestSummary(
    access: WorldAccess,
    { task, index, attempt, told }: Pick<SummaryRow, "task" | "index" | "attempt" | "told">,
  ): Promise<ScriptedReply> {
    return this.#effect(access, SUMMARY_LABEL, () => {
      const reply = summaryReply(this.scenario, { task, index, attempt });
      if (reply === undefined)
        throw new ScriptExhausted(this.scenario.name, `request ${index} of summary ${task}`);
      const said = told === undefined ? {} : { told };
      return {
        row: { kind: "summary", task, index, attempt, usage: reply.usage, ...said },
        answer: () => reply,
      };
    });
  }

  /** Asks the application's decision hook about work on the tree; null: it leaves it to the summarizer. */
  decide(access: WorldAccess, task: number): Promise<ScriptedDecision | null> {
    return this.#effect(access, DECISION_LABEL, () => {
      const decision = this.scenario.decisions?.[task] ?? null;
      const usage = decision?.kind === "supply" ? decision.usage : undefined;
      return {
        row: { kind: "decision", task, ...(usage === undefined ? {} : { usage }) },
        answer: () => decision,
      };
    });
  }

  /** Executes a tool. Rejects with the tool's own error where its script says so; the effect has happened then. */
  execute(
    access: WorldAccess,
    tool: ScriptedTool,
    callId: string,
    args: JsonValue,
  ): Promise<ScriptedToolAnswer> {
    return this.#effect(access, TOOL_LABEL, () => {
      const argumentsText = canonicalJson(args);
      return {
        row: { kind: "tool", tool: tool.name, callId, argumentsText },
        answer: () => answerOf(tool, argumentsText),
      };
    });
  }

  /** Sleeps in virtual time. */
  sleep(access: WorldAccess, delayMs: number, signal?: AbortSignal): Promise<void> {
    return access.gate.pass("effect", TIMER_LABEL, async (boundary) => {
      access.timeline.push({ kind: "timer", boundary, delayMs });
      await this.clock.sleep(delayMs, signal);
    });
  }

  async #effect<T>(
    access: WorldAccess,
    label: string,
    happen: () => { row: WorldRow; answer: () => T },
  ): Promise<T> {
    const { gate, timeline } = access;
    const startedAfter = timeline.events.length;
    return gate.pass("effect", label, (boundary: Boundary) => {
      const { row, answer } = happen();
      this.#ledger.append(row);
      const overtakenBy = timeline.events.length - startedAfter;
      timeline.push({ kind: "effect", boundary, row, ...(overtakenBy === 0 ? {} : { overtakenBy }) });
      return answer();
    });
  }
}

/** The answer to a nested request of an attempt. */
export function summaryReply(
  { summaries }: Scenario,
  { task, index, attempt }: Pick<SummaryRow, "task" | "index" | "attempt">,
): ScriptedReply | undefined {
  const replies = summaries?.[task]?.[index];
  return replies?.[Math.min(attempt, replies.length) - 1];
}

/** The scenario has no answer to a request: the scenario is wrong, or the runtime asks for more than it should. */
export class ScriptExhausted extends Error {
  override readonly name = "ScriptExhausted";
  readonly code = "SCRIPT_EXHAUSTED";

  constructor(scenario: string, asked: string) {
    super(
      `scenario ${scenario} scripts no answer for ${asked}; the runtime asked for one more than it should`,
    );
  }
}

function answerOf({ does }: ScriptedTool, argumentsText: string): ScriptedToolAnswer {
  switch (does.kind) {
    case "answers":
      return {
        text: does.text.replaceAll("{arguments}", () => argumentsText),
        terminate: does.terminate === true,
        usage: does.usage,
      };
    case "answersBytes":
      return { text: "x".repeat(does.byteCount), terminate: false, usage: undefined };
    case "throws":
      throw new Error(does.message);
  }
}
