/**
 * The expected session: the view at a cut, to which the continuation appends what must follow, with the ledger rows and
 * lane registers that belong to it.
 */
import { addUsage, zeroUsage } from "../../model/index.ts";
import type { ExpectedQueues } from "./expected-queues.ts";
import { ANY_OPTIONAL, ANY_TEXT, type LibraryReply, type LibraryResult } from "./library.ts";
import {
  type ParsedContent,
  type ParsedEntry,
  type ParsedItem,
  type ParsedRegister,
  type ParsedUsage,
  type ParsedView,
  saidIn,
} from "./parsed-view.ts";

/** How a run ends. */
export type Outcome =
  | { readonly outcome: "completed"; readonly runCompletion: "assistant" | "terminated_tools" }
  | { readonly outcome: "failed"; readonly error: unknown }
  | { readonly outcome: "aborted" };

/** An error of a run whose wording is the runtime's own. */
export const ANY_ERROR = { code: ANY_TEXT, message: ANY_TEXT, details: ANY_OPTIONAL };

/** See the module header. */
export class ExpectedSession {
  readonly #atCut: ParsedView;
  readonly #uninterrupted: ParsedView;
  readonly #entries: ParsedEntry[];
  readonly #usage: ParsedUsage[];
  #lastResult: unknown;
  #idCount = 0;
  /** The offset at which the next entry is placed, ms. */
  nowMs: number;
  /** The newest settled response of the run. */
  latestAssistantId: string | undefined;

  constructor(atCut: ParsedView, uninterrupted: ParsedView) {
    this.#atCut = atCut;
    this.#uninterrupted = uninterrupted;
    this.#entries = [...atCut.entries];
    this.#usage = [...atCut.usage];
    this.#lastResult = registerOf(atCut, "lane.lastResult");
    // The uninterrupted run went through the state of the cut, and placed its next entry without waiting.
    this.nowMs = (uninterrupted.entries[atCut.entries.length] ?? atCut.entries.at(-1))?.timestamp ?? 0;
  }

  get entries(): readonly ParsedEntry[] {
    return this.#entries;
  }

  /** Whether a text stands in the conversation. */
  holds(text: string): boolean {
    return this.#entries.some((entry) => saidIn(entry) === text);
  }

  /** Accepts a prompt. */
  prompt(text: string): void {
    const known = this.#uninterrupted.entries.find((entry) => saidIn(entry) === text);
    const message = known?.message ?? { role: "user", content: text };
    this.latestAssistantId = undefined;
    this.#append({ ...message, timestamp: this.nowMs });
  }

  /** An item with an id that nothing bears yet. */
  item(content: ParsedContent): ParsedItem {
    return { id: this.#newId(), content };
  }

  /** Places a queued item: its entry bears its id. */
  placeItem({ id, content }: ParsedItem): void {
    const place = { id, parentId: this.#leaf(), timestamp: this.nowMs, type: content.type };
    if (content.type === "message") this.#entries.push({ ...place, message: content.payload });
    else this.#entries.push({ ...place, customType: content.customType, data: content.payload });
  }

  /** Settles a response. */
  settle({ message, usage }: LibraryReply): void {
    const entryId = this.#append({ ...message, timestamp: this.nowMs });
    this.latestAssistantId = entryId;
    this.#usage.push({ adjustment: false, entryId, id: this.#newId(), usage });
  }

  /** Places the result of a call; answers whether it asks for the end of the run. */
  place({ message, usage, terminate }: LibraryResult): boolean {
    const entryId = this.#append({ ...message, timestamp: this.nowMs }, terminate);
    if (usage !== undefined) this.#usage.push({ adjustment: false, entryId, id: this.#newId(), usage });
    return terminate;
  }

  #append(message: NonNullable<ParsedEntry["message"]>, terminate = false): string {
    const id = this.#newId();
    const parentId = this.#leaf();
    this.#entries.push({
      id,
      parentId,
      timestamp: this.nowMs,
      type: "message",
      message,
      ...(terminate ? { terminate } : {}),
    });
    return id;
  }

  /** Ends the run. */
  end(outcome: Outcome): void {
    const isFinal = outcome.outcome !== "completed" || outcome.runCompletion === "assistant";
    this.#lastResult = {
      operationId: this.#newId(),
      kind: "run",
      leafId: this.#leaf(),
      ...outcome,
      ...(isFinal && this.latestAssistantId !== undefined
        ? { finalAssistantEntryId: this.latestAssistantId }
        : {}),
    };
  }

  /** The stored error of a failure that the uninterrupted run had too; else its form. */
  failure(errorMessage: string | undefined): unknown {
    const result = registerOf(this.#uninterrupted, "lane.lastResult") as
      | { error?: { message?: unknown } }
      | undefined;
    const isSame = errorMessage !== undefined && result?.error?.message === errorMessage;
    return isSame ? result.error : ANY_ERROR;
  }

  #registers(queues: ExpectedQueues): readonly ParsedRegister[] {
    const finished: Record<string, unknown> = {
      "lane.config": registerOf(this.#atCut, "lane.config") ?? registerOf(this.#uninterrupted, "lane.config"),
      "lane.lastResult": this.#lastResult,
      "lane.leaf": this.#leaf(),
      "lane.state": { currentOperationId: null, pendingNextRun: queues.nextRun.map(({ id }) => id) },
    };
    const lane = Object.entries(finished).flatMap(([namespace, value]) =>
      value === undefined ? [] : [{ key: MAIN, namespace, value }],
    );
    const facts = this.#atCut.registers.filter(({ namespace }) => namespace.startsWith("fact."));
    const queued = queues.nextRun.map(({ id, content }) => ({
      key: id,
      namespace: "pending.entry",
      value: content,
    }));
    return [...facts, ...lane, ...queued];
  }

  #leaf(): string | null {
    return this.#entries.at(-1)?.id ?? null;
  }

  /** An id that no view has: the text is renamed in the end. */
  #newId(): string {
    return `<id${FIRST_NEW_ID + this.#idCount++}>`;
  }

  /** The view, with what the lane's queue still holds. */
  view(queues: ExpectedQueues): ParsedView {
    const messageCount = this.#entries.filter(({ type }) => type === "message").length;
    const usage = this.#usage.reduce((sum, row) => addUsage(sum, row.usage), zeroUsage());
    return {
      entries: this.#entries,
      metadata: this.#atCut.metadata,
      registers: this.#registers(queues),
      stats: { messageCount, usage },
      usage: this.#usage,
    };
  }
}

const MAIN = "main";
const FIRST_NEW_ID = 1_000_000;

function registerOf(view: ParsedView, wanted: string): unknown {
  return view.registers.find(({ namespace, key }) => namespace === wanted && key === MAIN)?.value;
}
