/**
 * The queues of the one lane as they must be: what a cut left in them, and what the application says on the way.
 *
 * An item is placed or taken back by whoever goes through the conversation (`continuation.ts`); here stands which items
 * there are, which of them are due, and what becomes of them at a cancellation and at the end of a run (spec §3.11,
 * §3.12, §4.6).
 */
import type { QueueCall, ScenarioSettings } from "../../faults/index.ts";
import type { LaneState, OperationState } from "../../model/index.ts";
import {
  itemsOf,
  NotCovered,
  type ParsedContent,
  type ParsedItem,
  type ParsedView,
  saidIn,
} from "./parsed-view.ts";

export type ExpectedQueue = "steer" | "followUp" | "writes";

/** See the module header. */
export class ExpectedQueues {
  readonly #settings: ScenarioSettings;
  #nextRun: ParsedItem[] = [];
  #queues: Record<ExpectedQueue, ParsedItem[]> = { steer: [], followUp: [], writes: [] };
  /** What a cancellation took out of the queues; it is gone when the run ends. */
  #drained: ParsedItem[] = [];

  constructor(settings: ScenarioSettings, atCut: ParsedView, open: OperationState | undefined) {
    this.#settings = settings;
    const items = itemsOf(atCut);
    const named = (ids: readonly string[]) =>
      ids.map((id) => {
        const item = items.get(id);
        if (item === undefined) throw new NotCovered("a queued item without its content");
        return item;
      });
    const lane = atCut.registers.find(({ namespace }) => namespace === "lane.state")?.value;
    this.#nextRun = named((lane as LaneState | undefined)?.pendingNextRun ?? []);
    if (open?.kind !== "run") return;
    const { steer, followUp, writes } = open.inbox;
    this.#queues = { steer: named(steer), followUp: named(followUp), writes: named(writes) };
    if (open.control.status === "running") return;
    this.#drained = named([...open.control.drainedSteer, ...open.control.drainedFollowUp]);
  }

  /** What waits for the next run, oldest first. */
  get nextRun(): readonly ParsedItem[] {
    return this.#nextRun;
  }

  /** Whether a text stands in a queue, or in what a cancellation took out of them. */
  holds(text: string): boolean {
    const all = [...this.#nextRun, ...Object.values(this.#queues).flat(), ...this.#drained];
    return all.some((item) => isSaid(item, text));
  }

  /** Queues what a call says. */
  add(call: Exclude<QueueCall["call"], "cancelQueued">, item: ParsedItem): void {
    if (call === "nextRun") this.#nextRun.push(item);
    else this.#queues[call === "steer" || call === "followUp" ? call : "writes"].push(item);
  }

  /** Takes an item back, if it is still listed. */
  withdraw(text: string): void {
    const without = (items: readonly ParsedItem[]) => items.filter((item) => !isSaid(item, text));
    this.#nextRun = without(this.#nextRun);
    const { steer, followUp, writes } = this.#queues;
    this.#queues = { steer: without(steer), followUp: without(followUp), writes: without(writes) };
  }

  /** Takes what one checkpoint consumes of a queue. */
  take(queue: ExpectedQueue): readonly ParsedItem[] {
    const { steeringMode, followUpMode } = this.#settings;
    const mode = queue === "writes" ? "all" : queue === "steer" ? steeringMode : followUpMode;
    const count = mode === "all" ? this.#queues[queue].length : 1;
    return this.#queues[queue].splice(0, count);
  }

  /** Takes what an acceptance captures. */
  takeNextRun(): readonly ParsedItem[] {
    return this.#nextRun.splice(0);
  }

  /** The first abort: what was to be said to the run is drained; deferred writes stay. */
  drain(): void {
    const { steer, followUp } = this.#queues;
    this.#drained = [...steer.splice(0), ...followUp.splice(0)];
  }

  /** The run ends: whatever it still owns goes with it. */
  end(): void {
    this.#queues = { steer: [], followUp: [], writes: [] };
    this.#drained = [];
  }
}

/** What a call puts into its queue. */
export function contentOf({ call, text }: QueueCall, nowMs: number): ParsedContent {
  if (call === "appendCustom") return { type: "custom", customType: "note", payload: text };
  // A harness takes a text as one block; whoever writes into the tree brings a message.
  const content = call === "appendMessage" ? text : [{ type: "text", text }];
  return { type: "message", payload: { role: "user", content, timestamp: nowMs } };
}

function isSaid({ content }: ParsedItem, text: string): boolean {
  const said = content.type === "message" ? { message: content.payload } : { data: content.payload };
  return saidIn(said) === text;
}
