/** A canonical view as values: what the expectation reads of a cut and of the uninterrupted run, and what it builds. */
import type { JsonValue } from "../../foundation/index.ts";
import type { LaneState, OperationState, Usage } from "../../model/index.ts";

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

/** Parses a canonical text that `viewOf` made. */
export function parseView(canonical: string): ParsedView {
  return JSON.parse(canonical) as ParsedView;
}

/** The operation that a lane has open in a view, with its state. */
export function openOperation(
  view: ParsedView,
): { readonly id: string; readonly state: OperationState } | undefined {
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
  return { id, state: state as OperationState };
}

/** The tool calls of an assistant message, in source order. */
export function callsOf(
  message: ParsedMessage | undefined,
): readonly { id: string; name: string; arguments: JsonValue }[] {
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
