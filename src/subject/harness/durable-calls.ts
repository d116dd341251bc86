/**
 * What is durable of the calls of an application: all that it knows after a restart.
 *
 * A message that is in the conversation or in a queue was said and is never said twice; of the calls in order, those
 * before one that is done are done; what is noted beside the conversation is done once it is durable.
 */
import {
  isNoting,
  isStructural,
  type MeanwhileCall,
  type NotingCall,
  type Stimulus,
  type StructuralCall,
} from "../../faults/index.ts";
import { absurd } from "../../foundation/index.ts";
import type { AgentMessage, Entry } from "../../model/index.ts";
import type { Storage } from "../../storage/index.ts";
import { usageOf } from "./scripted-models.ts";

/** See the module header. */
export class DurableCalls {
  /** Read beside the gate: looking at what is durable is no effect. */
  readonly #store: Storage;
  readonly #lane: string;

  constructor(store: Storage, lane: string) {
    this.#store = store;
    this.#lane = lane;
  }

  /** The calls in order, without those before one that is done. */
  async undone(stimuli: readonly Stimulus[]): Promise<readonly Stimulus[]> {
    const isSaid = await Promise.all(stimuli.map((stimulus) => this.isDone(stimulus)));
    let next = isSaid.lastIndexOf(true) + 1;
    // Work on the tree says nothing; what was done of it since then shows in how the lane's last operation ended.
    for (const [index, stimulus] of [...stimuli.entries()].slice(next)) {
      if (!isStructural(stimulus)) break;
      if (await this.#isLatest(stimulus)) next = index + 1;
    }
    return stimuli.slice(next);
  }

  /** Whether the last operation of the lane is that of a call. */
  async #isLatest(call: StructuralCall): Promise<boolean> {
    const result = (await this.#store.getRegister("lane.lastResult", this.#lane))?.value;
    if (result === undefined || call.refused !== undefined) return false;
    if (call.call === "compact") return result.kind === "compaction";
    if (result.kind !== "navigation") return false;
    if (result.outcome !== "completed") return true;
    const target = await this.targetOf(call.to);
    if (call.summarize !== true) return result.leafId === target;
    const summary = result.leafId === null ? undefined : await this.#entry(result.leafId);
    return summary?.parentId === target;
  }

  /**
   * Whether the effect of a call is durable. Taking back leaves nothing, so it counts as done only by what follows; and
   * once a cancellation is durable its moment does not come again.
   */
  async isDone(call: Stimulus | MeanwhileCall): Promise<boolean> {
    if (isStructural(call) || call.call === "cancelQueued" || call.call === "abort") return false;
    if (isNoting(call)) return this.#isNoted(call);
    return (await this.idOf(call.text)) !== undefined;
  }

  async #isNoted(call: NotingCall): Promise<boolean> {
    const store = this.#store;
    switch (call.call) {
      case "setThinkingLevel":
        return (await store.getRegister("lane.config", this.#lane))?.value.thinkingLevel === call.level;
      case "setName":
        return (await store.getRegister("fact.name", ""))?.value === call.name;
      case "createLane":
        return (await store.getRegister("lane.state", call.lane)) !== undefined;
      case "recordUsage": {
        const { totalTokens } = usageOf(call.usage);
        const rows = await store.scanUsage({});
        return rows.some(({ adjustment, usage }) => adjustment && usage.totalTokens === totalTokens);
      }
      default:
        return absurd(call, "noting call");
    }
  }

  /** The id of the message that says a text; a text that nobody said is taken for an id. */
  async targetOf(text: string | null): Promise<string | null> {
    if (text === null) return null;
    const entries = await this.#store.scanEntries({ type: "message" });
    return entries.find((entry) => entry.type === "message" && saidIn(entry.message) === text)?.id ?? text;
  }

  async #entry(id: string): Promise<Entry | undefined> {
    return (await this.#store.getEntries([id])).get(id);
  }

  /** The id under which a text is durable, placed or queued. */
  async idOf(text: string): Promise<string | undefined> {
    for (const entry of await this.#store.scanEntries({})) {
      if (entry.type === "message" && textOf(entry.message) === text) return entry.id;
      if (entry.type === "custom" && entry.data === text) return entry.id;
    }
    const queued = await this.#store.listRegisters("pending.entry");
    return queued.find(({ value }) => {
      return (value.type === "message" ? textOf(value.payload) : value.payload) === text;
    })?.key;
  }
}

/** The text of a message, whoever said it. */
function saidIn(message: AgentMessage): string | undefined {
  if (message.role !== "assistant") return textOf(message);
  const block = message.content.find(({ type }) => type === "text");
  return block?.type === "text" ? block.text : undefined;
}

/** What a user message says. */
function textOf(message: AgentMessage): string | undefined {
  if (message.role !== "user") return undefined;
  if (typeof message.content === "string") return message.content;
  const [block] = message.content;
  return block?.type === "text" ? block.text : undefined;
}
