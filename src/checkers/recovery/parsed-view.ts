/** A canonical view as values: what the expectation reads of a cut and of the uninterrupted run, and what it builds. */
import type { JsonValue } from "../../foundation/index.ts";
import type { LaneState, Operation, OperationState, Usage } from "../../model/index.ts";
import { isInContext } from "../in-context.ts";

/** A canonical view, parsed. Ids are `<idN>`, times are offsets in ms. */
export interface ParsedView {
  readonly entries: readonly ParsedEntry[];
  readonly metadata: JsonValue;
  readonly registers: readonly ParsedRegister[];
  readonly stats: { readonly messageCount: number; readonly usage: Usage };
  readonly usage: readonly ParsedUsage[];
}

export interface ParsedEntry {
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: number;
  readonly type: string;
  readonly terminate?: true;
  readonly message?: ParsedMessage;
  /** Of a custom entry. */
  readonly customType?: string;
  readonly data?: unknown;
  /** Of a compaction or a branch summary. */
  readonly summary?: string;
  readonly usage?: Usage;
  /** Of a compaction. */
  readonly retainedTail?: readonly ParsedMessage[];
  readonly tokensBefore?: unknown;
  /** Of a branch summary. */
  readonly fromId?: string;
}

/** A message of any role; members that no reader here asks for pass through. */
export interface ParsedMessage {
  readonly role: string;
  readonly timestamp: number;
  readonly content?: unknown;
  readonly stopReason?: string;
  readonly responseId?: string;
  readonly usage?: Usage;
  readonly toolCallId?: string;
  /** Of a summary that stands in a context. */
  readonly summary?: string;
  readonly deferred?: ParsedHandle;
}

/** The handle of a scripted job; equality is over all of its members. */
export interface ParsedHandle {
  readonly id: string;
  readonly data: {
    readonly turn: number;
    /** When the application resumes, as an offset in ms. */
    readonly notBefore: number;
  };
}

export interface ParsedRegister {
  readonly namespace: string;
  readonly key: string;
  readonly value: unknown;
}

export interface ParsedUsage {
  readonly id: string;
  readonly entryId?: string;
  readonly adjustment: boolean;
  readonly usage: Usage;
}

/** A queued item: its id, and what its `pending.entry` register holds. */
export interface ParsedItem {
  readonly id: string;
  readonly content: ParsedContent;
}

export type ParsedContent =
  | { readonly type: "message"; readonly payload: ParsedMessage }
  | { readonly type: "custom"; readonly customType: string; readonly payload?: unknown };

/** Parses a canonical text that `viewOf` made. */
export function parseView(canonical: string): ParsedView {
  return JSON.parse(canonical) as ParsedView;
}

/** The operation that a lane has open in a view, with its state. */
export function openOperation(
  view: ParsedView,
): { readonly id: string; readonly state: OperationState; readonly startedMs: number } | undefined {
  const open = view.registers.flatMap(({ namespace, value }) => {
    if (namespace !== "lane.state") return [];
    const { currentOperationId } = value as LaneState;
    return currentOperationId === null ? [] : [currentOperationId];
  });
  const [id, ...more] = open;
  if (id === undefined) return undefined;
  if (more.length > 0) throw new NotCovered("several lanes with an open operation");
  const state = view.registers.find(({ namespace, key }) => namespace === "op.state" && key === id)?.value;
  if (state === undefined) throw new NotCovered("an open operation without a state");
  const meta = view.registers.find(({ namespace, key }) => namespace === "op.meta" && key === id)?.value;
  return { id, state: state as OperationState, startedMs: (meta as Operation | undefined)?.startedAt ?? 0 };
}

/** The queued items of a view, by id. */
export function itemsOf(view: ParsedView): ReadonlyMap<string, ParsedItem> {
  return new Map(
    view.registers.flatMap(({ namespace, key, value }) =>
      namespace === "pending.entry" ? [[key, { id: key, content: value as ParsedContent }] as const] : [],
    ),
  );
}

/** What an application said with an entry or an item: the text of a user message, the data of a custom entry. */
export function saidIn(said: { readonly message?: ParsedMessage; readonly data?: unknown }): unknown {
  const { message } = said;
  if (message === undefined) return said.data;
  if (message.role !== "user") return undefined;
  const { content } = message;
  return Array.isArray(content) ? (content[0] as { text?: unknown } | undefined)?.text : content;
}

/** The first text of a message, whoever said it. */
export function textIn(message: ParsedMessage | undefined): unknown {
  const content = message?.content;
  if (!Array.isArray(content)) return content;
  return content.find((block: { type?: unknown }) => block.type === "text")?.text;
}

/** The messages of a context, oldest first: from the newest compaction of the branch on (spec §2.5). */
export function contextAt(entries: readonly ParsedEntry[], leafId: string | null): readonly ParsedMessage[] {
  let end = entries.length;
  const newestFirst: ParsedEntry[] = [];
  for (let entry = at(leafId); entry !== undefined; entry = at(entry.parentId)) {
    newestFirst.push(entry);
    if (entry.type === "compaction") break;
  }
  return newestFirst.reverse().flatMap(messagesOf);

  /** Whatever an entry hangs below stands before it. */
  function at(id: string | null): ParsedEntry | undefined {
    if (id === null) return undefined;
    while (end > 0) {
      end--;
      if (entries[end]?.id === id) return entries[end];
    }
    return undefined;
  }
}

function messagesOf({ type, message, summary, timestamp, retainedTail = [], ...rest }: ParsedEntry) {
  switch (type) {
    case "message":
      return message !== undefined && isInContext(message) ? [message] : [];
    case "compaction":
      return [{ role: "compactionSummary", summary: summary ?? "", timestamp }, ...retainedTail];
    case "branch_summary":
      return [{ role: "branchSummary", summary: summary ?? "", fromId: rest.fromId, timestamp }];
    default:
      return [];
  }
}

/** A call as the provider asked for it. */
export interface ToolCallSource {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonValue;
}

/** The tool calls of an assistant message, in source order. */
export function callsOf(message: ParsedMessage | undefined): readonly ToolCallSource[] {
  if (!Array.isArray(message?.content)) return [];
  return message.content.filter((block) => block.type === "toolCall");
}

/** What recovery must reach from here is not computed yet; the run is inconclusive, not wrong. */
export class NotCovered extends Error {
  override readonly name = "NotCovered";
  readonly code = "EXPECTATION_NOT_COVERED";

  constructor(what: string) {
    super(`what recovery must reach is not computed for ${what}; add it to checkers/recovery`);
  }
}
