/**
 * The account: what is durable, in the words of a scenario. Who said what, in which order and where; what waits; whether
 * anything is under way; and what was spent.
 *
 * It is for judges that know no system: any system that holds conversations can give one. That of the harness is read from
 * its rows, and shares nothing with the runtime that wrote them.
 */
import type { AgentMessage, Entry, Register } from "../model/index.ts";
import type { SessionDump } from "../storage/index.ts";
import { sourceOf } from "./canonical-view.ts";
import type { View } from "./contract.ts";

/** See the module header. */
export interface Account {
  readonly lanes: readonly LaneAccount[];
  /** All that has a place in the conversation, in the order in which it got it. */
  readonly said: readonly Said[];
  /** What was taken and has no place yet; `lane`: for the next run of which lane, if it waits for that. */
  readonly waiting: readonly { readonly text: string; readonly lane: string | undefined }[];
  /** What only work that is under way may leave, by name. */
  readonly leftovers: readonly string[];
  /** Tokens that are booked for what really was asked and done, and how many times. */
  readonly spent: { readonly input: number; readonly output: number; readonly bookings: number };
}

export interface LaneAccount {
  readonly lane: string;
  readonly isIdle: boolean;
  /** Ids of what it holds, from the root on. */
  readonly conversation: readonly string[];
}

export interface Said {
  readonly id: string;
  readonly parentId: string | null;
  readonly by: "user" | "model" | "tool" | "note" | "summary";
  readonly text: string;
  /** Of the model: the calls that it asked for, by the provider's ids; none if it was not heard out. */
  readonly calls: readonly string[];
  /** Of a tool: the call that it answers. */
  readonly answers?: string;
}

/** The account of a session of the harness; the view must be one of its dumps. */
export function accountOf(view: View): Account {
  const dump = sourceOf(view)?.dump;
  if (dump === undefined) throw new Error("only a view that was read from a session has an account");
  const said = dump.entries.map(saidIn);
  return {
    lanes: lanesOf(dump),
    said,
    waiting: waitingIn(dump),
    leftovers: dump.registers.flatMap(({ namespace, key }) =>
      namespace.startsWith("op.") ? [`${namespace}/${key}`] : [],
    ),
    spent: spentIn(dump),
  };
}

function lanesOf(dump: SessionDump): LaneAccount[] {
  const parents = new Map(dump.entries.map(({ id, parentId }) => [id, parentId]));
  const leaves = new Map(registersIn(dump, "lane.leaf").map(({ key, value }) => [key, value]));
  return registersIn(dump, "lane.state").map(({ key: lane, value }) => {
    const conversation: string[] = [];
    for (let id = leaves.get(lane) ?? null; id !== null; id = parents.get(id) ?? null) {
      conversation.unshift(id);
    }
    return { lane, isIdle: value.currentOperationId === null, conversation };
  });
}

function waitingIn(dump: SessionDump): Account["waiting"] {
  const states = registersIn(dump, "lane.state");
  return registersIn(dump, "pending.entry").map(({ key: id, value }) => ({
    text: value.type === "message" ? textOf(value.payload) : String(value.payload),
    lane: states.find((state) => state.value.pendingNextRun.includes(id))?.key,
  }));
}

function registersIn<N extends Register["namespace"]>(
  { registers }: SessionDump,
  namespace: N,
): readonly Register<N>[] {
  // The namespace decides the type of the value, and the type of a register does not say so.
  return registers.filter((register) => register.namespace === namespace) as unknown as Register<N>[];
}

function spentIn({ usage }: SessionDump): Account["spent"] {
  const rows = usage.filter((row) => !row.adjustment && row.usage.totalTokens > 0);
  const sum = (member: "input" | "output") => rows.reduce((total, row) => total + row.usage[member], 0);
  return { input: sum("input"), output: sum("output"), bookings: rows.length };
}

function saidIn(entry: Entry): Said {
  const { id, parentId } = entry;
  const base = { id, parentId, calls: [] };
  switch (entry.type) {
    case "custom":
      return { ...base, by: "note", text: String(entry.data) };
    case "compaction":
    case "branch_summary":
      return { ...base, by: "summary", text: entry.summary };
    case "message":
      return { ...base, ...messageIn(entry.message) };
  }
}

function messageIn(message: AgentMessage): Pick<Said, "by" | "text" | "calls" | "answers"> {
  const text = textOf(message);
  switch (message.role) {
    case "assistant": {
      const isHeardOut = message.stopReason !== "aborted" && message.stopReason !== "error";
      const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
      return { by: "model", text, calls: isHeardOut ? calls : [] };
    }
    case "toolResult":
      return { by: "tool", text, calls: [], answers: message.toolCallId };
    default:
      return { by: "user", text, calls: [] };
  }
}

function textOf(message: AgentMessage | undefined): string {
  if (message === undefined || !("content" in message)) return "";
  const { content } = message;
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
