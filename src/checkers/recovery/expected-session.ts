/**
 * The expected session: the view at a cut, to which the continuation appends what must follow, with the ledger rows and
 * lane registers that belong to it.
 */
import type { NotingCall } from "../../faults/index.ts";
import { addUsage, type Usage, zeroUsage } from "../../model/index.ts";
import type { Pattern } from "../compare-views.ts";
import type { ExpectedQueues } from "./expected-queues.ts";
import { ANY_OPTIONAL, ANY_TEXT, type LibraryReply, type LibraryResult, usageOf } from "./library.ts";
import {
  type ParsedContent,
  type ParsedEntry,
  type ParsedItem,
  type ParsedMessage,
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
  #leafId: string | null;
  readonly #labels: ParsedRegister[] = [];
  #thinkingLevel: string | undefined;
  readonly #noted: ParsedRegister[] = [];
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
    this.#leafId = (registerOf(atCut, "lane.leaf") as string | null | undefined) ?? null;
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

  /** A run goes on with what its hook asked for. */
  followUpAtEnd(text: string): void {
    this.#append({ role: "user", content: [{ type: "text", text }], timestamp: this.nowMs });
  }

  /** An item with an id that nothing bears yet. */
  item(content: ParsedContent): ParsedItem {
    return { id: this.#newId(), content };
  }

  /** Places a queued item: its entry bears its id. */
  placeItem({ id, content }: ParsedItem): void {
    const place = { id, parentId: this.#leafId, timestamp: this.nowMs, type: content.type };
    this.#leafId = id;
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

  /** Places the result of a call for which two histories are right. Neither bears a cost or ends the run. */
  placeEither(first: LibraryResult, second: LibraryResult): void {
    const $oneOf = [first, second].map(({ message }) => ({ ...message, timestamp: this.nowMs }));
    const either: Pattern = { $oneOf };
    this.#append(either as unknown as ParsedMessage);
  }

  #append(message: NonNullable<ParsedEntry["message"]>, terminate = false): string {
    const id = this.#newId();
    this.#entries.push({
      id,
      parentId: this.#leafId,
      timestamp: this.nowMs,
      type: "message",
      message,
      ...(terminate ? { terminate } : {}),
    });
    this.#leafId = id;
    return id;
  }

  /** Books what a nested request cost: no entry stands for it yet. */
  bill(usage: Usage): void {
    this.#usage.push({ adjustment: false, id: this.#newId(), usage });
  }

  /** Publishes a summary, and what a hook was paid for it. */
  publish(
    words: ParsedEntry,
    { parentId, billed }: { readonly parentId: string | null; readonly billed?: Usage },
  ): void {
    const id = this.#newId();
    if (billed !== undefined) {
      this.#usage.push({ adjustment: false, entryId: id, id: this.#newId(), usage: billed });
    }
    this.#entries.push({ ...words, id, parentId, timestamp: this.nowMs });
    this.#leafId = id;
  }

  /** Moves the lane. */
  moveTo(id: string | null): void {
    this.#leafId = id;
  }

  /** Labels the entry at which the lane stands. */
  label(value: string): void {
    if (this.#leafId !== null) this.#labels.push({ key: this.#leafId, namespace: "fact.label", value });
  }

  /** Ends an operation that works on the tree. */
  endWork(
    kind: "compaction" | "navigation",
    outcome: { readonly outcome: string; readonly error?: unknown },
  ) {
    this.#lastResult = { operationId: this.#newId(), kind, leafId: this.#leafId, ...outcome };
  }

  /** How the lane's last operation ended. */
  get lastResult(): { readonly kind?: string; readonly outcome?: string; readonly leafId?: string | null } {
    return (this.#lastResult ?? {}) as ReturnType<() => { kind?: string }>;
  }

  /** Where the lane stands. */
  get leafId(): string | null {
    return this.#leafId;
  }

  /** Ends the run. */
  end(outcome: Outcome): void {
    const isFinal = outcome.outcome !== "completed" || outcome.runCompletion === "assistant";
    this.#lastResult = {
      operationId: this.#newId(),
      kind: "run",
      leafId: this.#leafId,
      ...outcome,
      ...(isFinal && this.latestAssistantId !== undefined
        ? { finalAssistantEntryId: this.latestAssistantId }
        : {}),
    };
  }

  /** Whether what a call notes is there. */
  isNoted(call: NotingCall): boolean {
    switch (call.call) {
      case "setThinkingLevel": {
        // What the run that nobody cut was configured to is not noted yet.
        const stored = registerOf(this.#atCut, "lane.config") as
          | { readonly thinkingLevel?: string }
          | undefined;
        return (this.#thinkingLevel ?? stored?.thinkingLevel) === call.level;
      }
      case "setName":
        return this.#others().some(
          ({ namespace, value }) => namespace === "fact.name" && value === call.name,
        );
      case "createLane":
        return this.#others().some(({ namespace, key }) => namespace === "lane.state" && key === call.lane);
      case "recordUsage": {
        const { totalTokens } = usageOf(call.usage);
        return this.#usage.some(({ adjustment, usage }) => adjustment && usage.totalTokens === totalTokens);
      }
    }
  }

  /** Notes something beside the conversation. A lane begins with the configuration that the harness began with. */
  note(call: NotingCall): void {
    switch (call.call) {
      case "setThinkingLevel":
        this.#thinkingLevel = call.level;
        return;
      case "setName":
        this.#noted.push({ namespace: "fact.name", key: "", value: call.name });
        return;
      case "createLane": {
        const key = call.lane;
        const idle = { currentOperationId: null, pendingNextRun: [] };
        const seed = this.#uninterrupted.registers.find(
          (one) => one.namespace === "lane.config" && one.key === key,
        );
        this.#noted.push(
          { namespace: "lane.config", key, value: seed?.value },
          { namespace: "lane.leaf", key, value: null },
          { namespace: "lane.state", key, value: idle },
        );
        return;
      }
      case "recordUsage":
        this.#usage.push({ adjustment: true, id: this.#newId(), usage: usageOf(call.usage) });
        return;
    }
  }

  #config(): { readonly thinkingLevel?: string } | undefined {
    const stored = (registerOf(this.#atCut, "lane.config") ??
      registerOf(this.#uninterrupted, "lane.config")) as { readonly thinkingLevel?: string } | undefined;
    return this.#thinkingLevel === undefined ? stored : { ...stored, thinkingLevel: this.#thinkingLevel };
  }

  /** Registers beside those of the main lane and its operation: facts, and other lanes. */
  #others(): readonly ParsedRegister[] {
    const atCut = this.#atCut.registers.filter(({ namespace, key }) => {
      return namespace.startsWith("fact.") || (namespace.startsWith("lane.") && key !== MAIN);
    });
    return [...atCut, ...this.#labels, ...this.#noted];
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
      "lane.config": this.#config(),
      "lane.lastResult": this.#lastResult,
      "lane.leaf": this.#leafId,
      "lane.state": { currentOperationId: null, pendingNextRun: queues.nextRun.map(({ id }) => id) },
    };
    const lane = Object.entries(finished).flatMap(([namespace, value]) =>
      value === undefined ? [] : [{ key: MAIN, namespace, value }],
    );
    const queued = queues.nextRun.map(({ id, content }) => ({
      key: id,
      namespace: "pending.entry",
      value: content,
    }));
    // In the order of views: by namespace, and the main lane's before those of a lane that was made later.
    return [...lane, ...this.#others(), ...queued].sort(byNamespace);
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

function byNamespace(one: ParsedRegister, other: ParsedRegister): number {
  if (one.namespace === other.namespace) return 0;
  return one.namespace < other.namespace ? -1 : 1;
}

function registerOf(view: ParsedView, wanted: string): unknown {
  return view.registers.find(({ namespace, key }) => namespace === wanted && key === MAIN)?.value;
}
