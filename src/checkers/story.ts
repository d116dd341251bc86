/**
 * The story of a session: what a view of it says, line by line, in words that the histories of races are written in.
 *
 * First the entries in the order in which they were stored: who said what, how a response stopped, what a call came to. An
 * entry that does not hang below the one before it says where it hangs. Then what waits in queues, then each lane: whether
 * it is idle and how its last operation ended, or what it has open. Ids, times and costs are not told: other judges hold
 * those.
 */
import type { Story } from "../faults/index.ts";
import type { LaneState, OperationState } from "../model/index.ts";
import type { View } from "./contract.ts";
import {
  callsOf,
  itemsOf,
  type ParsedEntry,
  type ParsedItem,
  type ParsedView,
  parseView,
  saidIn,
  textIn,
} from "./recovery/parsed-view.ts";

/** See the module header. */
export function storyOf(view: View): Story {
  const parsed = parseView(view.canonical);
  return [...entryLines(parsed), ...queueLines(parsed), ...laneLines(parsed)];
}

function entryLines({ entries }: ParsedView): readonly string[] {
  return entries.map((entry, index) => {
    const before = entries[index - 1];
    const at = entries.findIndex(({ id }) => id === entry.parentId);
    const place = entry.parentId === (before?.id ?? null) ? "" : ` (below ${at < 0 ? "the root" : at + 1})`;
    return `${said(entry)}${place}`;
  });
}

function said(entry: ParsedEntry): string {
  const { type, message, summary, data, customType, terminate } = entry;
  // A compaction may hold several answers, the first of them first; a branch summary begins with words of its own.
  const words = (summary ?? "").split("\n");
  if (type === "compaction") return `compaction: ${words[0]}`;
  if (type === "branch_summary") return `branch summary: ${words.at(-1)}`;
  if (message === undefined) return `${customType}: ${String(data)}`;
  const text = textIn(message);
  switch (message.role) {
    case "user":
      return `user: ${String(saidIn(entry))}`;
    case "assistant": {
      const words = [text, ...callsOf(message).map(({ id, name }) => `calls ${name} ${id}`)];
      return `assistant, ${message.stopReason}: ${words.filter((word) => word !== undefined).join(", ")}`;
    }
    case "toolResult": {
      const isError = (message as { readonly isError?: boolean }).isError === true;
      return `result ${message.toolCallId}${isError ? ", error" : ""}: ${String(text)}${terminate ? ", ends the run" : ""}`;
    }
    default:
      return `${message.role}: ${String(text)}`;
  }
}

function queueLines(view: ParsedView): readonly string[] {
  const items = itemsOf(view);
  return view.registers.flatMap(({ namespace, value }) => {
    if (namespace === "lane.state") return lines("next run", (value as LaneState).pendingNextRun, items);
    const state = namespace === "op.state" ? (value as OperationState) : undefined;
    if (state?.kind !== "run") return [];
    const { steer, followUp, writes } = state.inbox;
    return [
      ...lines("steer", steer, items),
      ...lines("follow up", followUp, items),
      ...lines("write", writes, items),
    ];
  });
}

function lines(
  queue: string,
  ids: readonly string[],
  items: ReadonlyMap<string, ParsedItem>,
): readonly string[] {
  return ids.map((id) => {
    const content = items.get(id)?.content;
    const text = content?.type === "message" ? saidIn({ message: content.payload }) : content?.payload;
    return `waits, ${queue}: ${String(text)}`;
  });
}

/** Lanes by name: where their registers stand depends on which of them was written last. */
function laneLines({ registers }: ParsedView): readonly string[] {
  const lanes = registers.filter(({ namespace }) => namespace === "lane.state");
  return lanes.sort(byKey).map(({ key, value }) => {
    const read = (wanted: string, of: string) =>
      registers.find((one) => one.namespace === wanted && one.key === of)?.value;
    const { currentOperationId } = value as LaneState;
    if (currentOperationId !== null) {
      const state = read("op.state", currentOperationId) as OperationState | undefined;
      return `lane ${key}: ${state === undefined ? "an operation without a state" : openState(state)}`;
    }
    const last = read("lane.lastResult", key) as { kind: string; outcome: string } | undefined;
    return `lane ${key}: idle${last === undefined ? "" : `, ${last.kind} ${last.outcome}`}`;
  });
}

function byKey(one: { readonly key: string }, other: { readonly key: string }): number {
  return one.key < other.key ? -1 : 1;
}

function openState(state: OperationState): string {
  const isCancelled = state.control.status === "cancel_requested" ? ", cancelled" : "";
  if (state.kind !== "run") return `${state.kind} open${isCancelled}`;
  const { phase } = state;
  const at = phase.kind === "assistant" ? `assistant ${phase.generation.status}` : phase.kind;
  return `run open at ${at}${isCancelled}`;
}
