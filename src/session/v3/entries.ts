/**
 * Kept nodes to entries of format 4: new ids, remapped references, retained tails (spec Appendix B).
 *
 * Ids. An entry's id carries the entry's own time. Its tail comes from a random source that is seeded by the session's
 * id and the legacy id, so that every opening of an unconverted file gives the same ids, and cursors and links that
 * point into it stay good.
 */
import { Corruption, idAt, isRecord, NotJson, type Random, seededRandom } from "../../foundation/index.ts";
import {
  type AgentMessage,
  type CustomMessageSchemas,
  type Entry,
  type Usage,
  validateEntry,
} from "../../model/index.ts";
import { placeOf, type V3Warning, type V3WarningReason } from "./lines.ts";
import { customMessageOf, repairedMessage, repairedUsage, tailMessageOf } from "./messages.ts";
import { type LegacyNode, type LegacyTree, refuse } from "./nodes.ts";
import { parseTime, storableTime } from "./times.ts";
import { admitMended, type JsonRecord } from "./values.ts";

/** What the entries of a session are made with. */
export interface EntryMaking {
  readonly sessionId: string;
  readonly file: string | undefined;
  /** The time of the header, Unix ms: for entries that have none. */
  readonly headerTime: number;
  readonly warnings: V3Warning[];
  readonly customMessageSchemas?: CustomMessageSchemas | undefined;
  /** The random source of an entry's id. Default: seeded by session and legacy id. */
  readonly randomFor?: ((sessionId: string, legacyId: string) => Random) | undefined;
}

/** The entries of a session, by seq from 1, and the new ids by the legacy ones. */
export interface MadeEntries {
  readonly entries: readonly Entry[];
  readonly idOf: ReadonlyMap<string, string>;
}

/** Makes the entries of all kept nodes, in the order of the file. @throws Corruption */
export function entriesOf(tree: LegacyTree, making: EntryMaking): MadeEntries {
  const times = timesOf(tree, making);
  const idOf = idsOf(tree, times, making);
  const context = {
    timeOf: (node: LegacyNode) => times.get(node) ?? making.headerTime,
    remapped: (fromId: unknown) => remapped(fromId, tree, idOf),
  };
  const entries: Entry[] = [];
  for (const node of tree.nodes) {
    const id = node.kept === node ? idOf.get(node.id) : undefined;
    if (id === undefined) continue;
    const parent = node.parent?.kept ?? null;
    const draft = {
      id,
      parentId: parent === null ? null : (idOf.get(parent.id) ?? null),
      seq: entries.length + 1,
      timestamp: context.timeOf(node),
      ...payloadOf(node, context, making),
    };
    entries.push(admittedEntry(draft, node, making));
  }
  return { entries, idOf };
}

/** The usage that an entry shows: its message's, or its own. Messages inside a tail never count. */
export function usageOf(entry: Entry): Usage | undefined {
  switch (entry.type) {
    case "message": {
      const { message } = entry;
      return message.role === "assistant" || message.role === "toolResult" ? message.usage : undefined;
    }
    case "compaction":
    case "branch_summary":
      return entry.usage;
    case "custom":
      return undefined;
  }
}

interface Context {
  timeOf(node: LegacyNode): number;
  remapped(fromId: unknown): unknown;
}

function timesOf({ nodes }: LegacyTree, { headerTime, warnings }: EntryMaking): Map<LegacyNode, number> {
  const times = new Map<LegacyNode, number>();
  let previous = headerTime;
  for (const node of nodes) {
    const own = parseTime(node.record.timestamp);
    const { message } = node.record;
    const time = own ?? storableTime(isRecord(message) ? message.timestamp : undefined) ?? previous;
    if (own === undefined && node.kept === node) {
      warn(warnings, "time_replaced", `the time of entry ${node.id} could not be read`, node);
    }
    times.set(node, time);
    previous = time;
  }
  return times;
}

function idsOf(
  tree: LegacyTree,
  times: ReadonlyMap<LegacyNode, number>,
  { sessionId, headerTime, randomFor = seededByIds }: EntryMaking,
): Map<string, string> {
  const idOf = new Map<string, string>();
  const taken = new Set<string>();
  for (const node of tree.nodes) {
    if (node.kept !== node) continue;
    const random = randomFor(sessionId, node.id);
    const time = times.get(node) ?? headerTime;
    let id = idAt(time, random);
    while (taken.has(id)) id = idAt(time, random);
    taken.add(id);
    idOf.set(node.id, id);
  }
  return idOf;
}

function seededByIds(sessionId: string, legacyId: string): Random {
  return seededRandom("v3-import", sessionId, legacyId);
}

/** The id that a legacy id became; of a dropped node its nearest kept ancestor's; of anything else, itself. */
function remapped(fromId: unknown, { byId }: LegacyTree, idOf: ReadonlyMap<string, string>): unknown {
  const node = typeof fromId === "string" ? byId.get(fromId) : undefined;
  if (node === undefined) return fromId;
  return node.kept === null ? ROOT : idOf.get(node.kept.id);
}

/** What a branch summary names when the branch hung at the root. */
const ROOT = "root";

function payloadOf(node: LegacyNode, context: Context, making: EntryMaking): JsonRecord {
  const { record } = node;
  const { summary, tokensBefore, details, fromHook = false, customType, data } = record;
  const shared = {
    ...(details === undefined ? {} : { details }),
    ...(record.usage === undefined ? {} : { usage: repairedUsage(record.usage) }),
    fromHook,
  };
  switch (node.type) {
    case "message":
      return { type: "message", message: repairedMessage(record.message) };
    case "custom_message":
      return { type: "message", message: customMessageOf(node, context.timeOf(node)) };
    case "compaction": {
      const retainedTail = retainedTailOf(node, context, making);
      return { type: "compaction", summary, retainedTail, tokensBefore, ...shared };
    }
    case "branch_summary":
      return { type: "branch_summary", fromId: context.remapped(record.fromId), summary, ...shared };
    default:
      return { type: "custom", customType, ...(data === undefined ? {} : { data }) };
  }
}

/**
 * The tail of a compaction: the one that it carries, or the messages from the first kept entry up to it, on its own
 * branch as it was before anything was dropped from it.
 */
function retainedTailOf(node: LegacyNode, context: Context, { warnings }: EntryMaking): unknown {
  const retainedTail = node.record.retainedTail ?? undefined;
  if (Array.isArray(retainedTail)) return retainedTail.map(repairedMessage);
  if (retainedTail !== undefined) return retainedTail;
  const first = node.firstKeptEntryId;
  if (first === undefined) return [];
  const tail: AgentMessage[] = [];
  for (let each = node.parent; each !== null; each = each.parent) {
    const message = tailMessageOf(each, context);
    if (message !== undefined) tail.push(message);
    if (each.id === first) return tail.reverse();
  }
  warn(
    warnings,
    "first_kept_missing",
    `the first kept entry ${first} of compaction ${node.id} is not before it`,
    node,
  );
  return [];
}

function admittedEntry(draft: JsonRecord, node: LegacyNode, making: EntryMaking): Entry {
  const { file, warnings, customMessageSchemas } = making;
  let entry: unknown;
  try {
    const { value, isMended } = admitMended(draft);
    if (isMended)
      warn(warnings, "value_mended", `entry ${node.id} held what JSON text should not spell`, node);
    entry = value;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    refuse("outside_json_domain", `at ${error.path} is ${error.found}`, node, file, node.id);
  }
  const issue = validateEntry(entry, customMessageSchemas);
  if (issue === undefined) return entry as Entry;
  throw new Corruption(
    "invalid_entry",
    `${issue.path} is ${issue.found} where ${issue.expected} is expected; nothing was changed`,
    placeOf(node, file, `entry ${node.id}`),
  );
}

function warn(
  warnings: V3Warning[],
  reason: V3WarningReason,
  message: string,
  { line, byteOffset }: LegacyNode,
): void {
  warnings.push({ reason, message, line, byteOffset });
}
