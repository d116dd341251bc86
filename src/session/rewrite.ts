/**
 * The precise rewrite: what stays of a session when something in it must go for good (spec §2.9). A pure function of a
 * snapshot; the repositories put its result in the place of the session, as a new generation.
 *
 * It is the one exception to the rule that entries and usage rows are never deleted or changed, and a tool of
 * administrators: erasing what must be erased (copies in retained tails and summaries included), pruning branches that
 * were left, minting old ids anew. No runtime mechanism depends on it.
 *
 * Terms. *Heir*: the nearest ancestor of an entry that stays, the entry itself if it stays.
 *
 * What holds of the result.
 * 1. Rows that stay keep their seq and time. The tree stays one: the parent of an entry is the heir of its old parent,
 *    whatever the rule returned for it; so is the leaf of a lane that stood on an entry that goes.
 * 2. An id that a rule changes is changed wherever the format knows it: parents, leaves, labels, `fromId`, the entry
 *    of a usage row, the last result of a lane. Ids inside texts, `data` and `details` are not looked for (spec §1.2).
 * 3. A reference to an entry that goes becomes its heir (leaves, `fromId`), or goes too (labels, the entry of a usage
 *    row, the final answer of a last result, and with it the result of a run that this answer completed). A `fromId`
 *    without an heir stays as it is.
 * 4. `main` stays. Operations and queued content never do: a session that has either is refused, unless told to drop
 *    them. The lanes that stay are idle.
 */
import type { Entry, LaneLastResult, Register, UsageRow } from "../model/index.ts";
import type { SessionContents } from "../storage/index.ts";
import { leavesOf } from "./fork.ts";
import { idleLanes, MAIN_LANE } from "./lane.ts";

/** The registers that a rule may look at: facts, and what lanes are configured with and ended with. */
export type RewritableRegister = {
  [N in "fact.name" | "fact.label" | "fact.custom" | "lane.config" | "lane.lastResult"]: Register<N>;
}["fact.name" | "fact.label" | "fact.custom" | "lane.config" | "lane.lastResult"];

/**
 * What stays, and as what. Each rule returns the row as it shall be, or undefined if it goes; without a rule all of its
 * rows stay as they are. Rules are asked once for every row, in the order of seq, and change nothing they are given.
 */
export interface RewriteRules {
  /** May change the payload and the id; what it returns for `parentId`, `seq` and `timestamp` is disregarded. */
  readonly entry?: (entry: Entry) => Entry | undefined;
  /** May change all but `seq`. */
  readonly usage?: (row: UsageRow) => UsageRow | undefined;
  /** May change the value alone. */
  readonly register?: (register: RewritableRegister) => RewritableRegister | undefined;
  /** Whether a lane stays; not asked for `main`. */
  readonly lane?: (name: string) => boolean;
}

export interface RewriteOptions {
  /** What to do with open operations and queued content. Default `refuse`. */
  readonly unfinished?: "refuse" | "drop";
}

/** A session that is to be rewritten runs something or has something queued. Nothing was changed. */
export class SessionNotIdle extends Error {
  override readonly name = "SessionNotIdle";
  readonly code = "SESSION_NOT_IDLE";
  /** The registers that say so, as `namespace/key`. */
  readonly registers: readonly string[];

  constructor(registers: readonly string[]) {
    super(
      `the session is not idle (${registers.slice(0, 3).join(", ")}${registers.length > 3 ? ", …" : ""}); finish or ` +
        'abort what runs, cancel what is queued, or ask for `unfinished: "drop"`; nothing was changed',
    );
    this.registers = registers;
  }
}

/** What a session holds after a rewrite. @throws SessionNotIdle; what a rule throws */
export function rewriteContents(
  source: SessionContents,
  rules: RewriteRules,
  { unfinished = "refuse" }: RewriteOptions = {},
): SessionContents {
  if (unfinished === "refuse") refuseUnfinished(source.registers);
  const heirs = new Heirs(source.entries, rules);
  const keepsLane = (name: string) => name === MAIN_LANE || (rules.lane?.(name) ?? true);
  const usage = source.usage.flatMap((row) => rewriteUsage(row, rules, heirs));
  const kept = source.registers.flatMap((register) => rewriteRegister(register, rules, heirs, keepsLane));
  const leaves = leavesOf(source.registers)
    .filter(([lane]) => keepsLane(lane))
    .map(([lane, leafId]) => [lane, heirs.of(leafId)] as const);
  const lanes = idleLanes([...heirs.entries, ...usage, ...kept], leaves);
  return { entries: heirs.entries, registers: [...kept, ...lanes], usage };
}

function refuseUnfinished(registers: readonly Register[]): void {
  const unfinished = registers.filter(isUnfinished).map(({ namespace, key }) => `${namespace}/${key}`);
  if (unfinished.length > 0) throw new SessionNotIdle(unfinished);
}

function isUnfinished(register: Register): boolean {
  const { namespace } = register;
  if (namespace.startsWith("op.") || namespace === "pending.entry") return true;
  if (namespace !== "lane.state") return false;
  const { currentOperationId, pendingNextRun } = (register as Register<"lane.state">).value;
  return currentOperationId !== null || pendingNextRun.length > 0;
}

/** The entries that stay, and where a reference to any entry leads now. */
class Heirs {
  readonly entries: Entry[] = [];
  /** The new id of the heir, by the old id of the entry. */
  readonly #heirs = new Map<string, string | null>();
  readonly #newIds = new Map<string, string>();

  /** Parents come before their children, so one pass is enough but for `fromId`, which may name any entry. */
  constructor(entries: readonly Entry[], rules: RewriteRules) {
    const kept: Entry[] = [];
    for (const entry of entries) {
      const changed = rules.entry === undefined ? entry : rules.entry(entry);
      const parentId = this.of(entry.parentId);
      if (changed === undefined) {
        this.#heirs.set(entry.id, parentId);
        continue;
      }
      this.#heirs.set(entry.id, changed.id);
      this.#newIds.set(entry.id, changed.id);
      kept.push({ ...changed, parentId, seq: entry.seq, timestamp: entry.timestamp });
    }
    this.entries = kept.map((entry) =>
      entry.type === "branch_summary" ? { ...entry, fromId: this.of(entry.fromId) ?? entry.fromId } : entry,
    );
  }

  /** The heir of an entry under its new id; null for the root and for an entry without one. */
  of(id: string | null): string | null {
    return id === null ? null : (this.#heirs.get(id) ?? null);
  }

  /** The new id of an entry that stays; undefined for one that goes. */
  self(id: string): string | undefined {
    return this.#newIds.get(id);
  }
}

function rewriteUsage(row: UsageRow, rules: RewriteRules, heirs: Heirs): UsageRow[] {
  const changed = rules.usage === undefined ? row : rules.usage(row);
  if (changed === undefined) return [];
  const { entryId, ...rest } = { ...changed, seq: row.seq };
  const entry = entryId === undefined ? undefined : heirs.self(entryId);
  return [entry === undefined ? rest : { ...rest, entryId: entry }];
}

function rewriteRegister(
  register: Register,
  rules: RewriteRules,
  heirs: Heirs,
  keepsLane: (name: string) => boolean,
): Register[] {
  if (!isRewritable(register)) return [];
  const { namespace, key, seq } = register;
  if (namespace.startsWith("lane.") && !keepsLane(key)) return [];
  const target = namespace === "fact.label" ? heirs.self(key) : key;
  if (target === undefined) return [];
  const changed = rules.register === undefined ? register : rules.register(register);
  if (changed === undefined) return [];
  const value =
    namespace === "lane.lastResult" ? rewriteResult(changed.value as LaneLastResult, heirs) : changed.value;
  return value === undefined ? [] : [{ namespace, key: target, value, seq }];
}

function isRewritable(register: Register): register is RewritableRegister {
  const { namespace } = register;
  return namespace.startsWith("fact.") || namespace === "lane.config" || namespace === "lane.lastResult";
}

function rewriteResult(result: LaneLastResult, heirs: Heirs): LaneLastResult | undefined {
  const { finalAssistantEntryId, ...rest } = { ...result, leafId: heirs.of(result.leafId) };
  const final = finalAssistantEntryId === undefined ? undefined : heirs.self(finalAssistantEntryId);
  if (final !== undefined) return { ...rest, finalAssistantEntryId: final };
  return rest.runCompletion === "assistant" ? undefined : rest;
}
