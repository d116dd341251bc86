/**
 * The session tree: what an application sees of a session, bound to one lane (spec §2.4, §2.5, §5.3).
 *
 * Facts, the session-wide listings and the totals are the session's, whatever the lane; the leaf, the default start of
 * a branch query and the place of an append are the lane's.
 *
 * Invariants.
 * 1. Finders answer committed entries alone. A write that is deferred shows up when it is placed.
 * 2. A session-wide query filters, then applies its cursor, then its limit. A branch query orders the path, ends it at
 *    the first stop, filters, applies its cursor, then its limit. Cursors are exclusive.
 * 3. There is no navigation here: a lane is moved by its harness.
 */
import type { JsonValue } from "../foundation/index.ts";
import type { AgentMessage, Entry, EntryType } from "../model/index.ts";
import type { BranchScan, EntryCursor, EntryScan, SessionStats } from "../storage/index.ts";
import { detachJson } from "./detach.ts";
import { customFactWrite, labelWrite, NAME_KEY, nameWrite, UnknownLabelTarget } from "./facts.ts";
import { InvalidWrite } from "./invalid-write.ts";
import { leafOf } from "./lanes.ts";
import type { Session } from "./session.ts";
import type { TreeWriter } from "./tree-writer.ts";

/** A session-wide query; default order `desc`. */
export interface EntryQuery {
  type?: EntryType;
  customType?: string;
  order?: "asc" | "desc";
  limit?: number;
  /** Exclusive: `desc` keeps `seq < cursor.seq`, `asc` keeps `seq > cursor.seq`. */
  cursor?: EntryCursor;
}

/** A branch query; it starts at the leaf of the view's lane unless told otherwise. */
export type BranchQuery = Omit<BranchScan, "start"> & { start?: string };

/** See the module header. */
export interface SessionTree {
  getLeafId(): Promise<string | null>;
  getEntry(id: string): Promise<Entry | undefined>;
  getStats(): Promise<SessionStats>;

  getName(): Promise<string | undefined>;
  /** `undefined` deletes. */
  setName(name: string | undefined): Promise<void>;
  getLabel(targetId: string): Promise<string | undefined>;
  /** `undefined` deletes. Rejects with `UnknownLabelTarget` when a label is set on no entry. */
  setLabel(targetId: string, label: string | undefined): Promise<void>;
  /** `undefined` where there is none; JSON null is a value. */
  getCustomFact(key: string): Promise<JsonValue | undefined>;
  /** `undefined` deletes. */
  setCustomFact(key: string, value: JsonValue | undefined): Promise<void>;

  /** All branches, by seq. */
  findEntries(query?: EntryQuery): Promise<Entry[]>;
  findEntry(query?: EntryQuery): Promise<Entry | undefined>;
  /** The path from the start toward the root; empty where the lane stands at the root. Rejects with `UnknownEntry`. */
  findEntriesOnBranch(query?: BranchQuery): Promise<Entry[]>;
  findEntryOnBranch(query?: BranchQuery): Promise<Entry | undefined>;

  /** Resolves with the entry's id once the content is durable. Rejects with `InvalidWrite` or as the writer does. */
  appendMessage(message: AgentMessage): Promise<string>;
  appendCustomEntry(customType: string, data?: JsonValue): Promise<string>;
}

/** The tree of a session, seen from a lane. It keeps nothing: whatever it answers was read from the session. */
export class LaneView implements SessionTree {
  readonly lane: string;
  readonly #session: Session;
  readonly #writer: () => TreeWriter;

  constructor(session: Session, lane: string, writer: () => TreeWriter) {
    this.lane = lane;
    this.#session = session;
    this.#writer = writer;
  }

  /** Rejects with `UnknownLane` if there is no such lane. */
  getLeafId(): Promise<string | null> {
    return leafOf(this.#session, this.lane);
  }

  async getEntry(id: string): Promise<Entry | undefined> {
    return (await this.#session.getEntries([id])).get(id);
  }

  getStats(): Promise<SessionStats> {
    return this.#session.getStats();
  }

  async getName(): Promise<string | undefined> {
    return (await this.#session.getRegister("fact.name", NAME_KEY))?.value;
  }

  setName(name: string | undefined): Promise<void> {
    return this.#writer().setFact(async () => nameWrite(name));
  }

  async getLabel(targetId: string): Promise<string | undefined> {
    return (await this.#session.getRegister("fact.label", targetId))?.value;
  }

  setLabel(targetId: string, label: string | undefined): Promise<void> {
    return this.#writer().setFact(async () => {
      // Entries are never deleted, so a target that is found here is still there when the label is committed.
      const isKnown = label === undefined || (await this.getEntry(targetId)) !== undefined;
      if (!isKnown) throw new UnknownLabelTarget(targetId);
      return labelWrite(targetId, label);
    });
  }

  async getCustomFact(key: string): Promise<JsonValue | undefined> {
    return (await this.#session.getRegister("fact.custom", key))?.value;
  }

  async setCustomFact(key: string, value: JsonValue | undefined): Promise<void> {
    const detached = value === undefined ? undefined : detachJson(value);
    await this.#writer().setFact(async () => customFactWrite(key, detached));
  }

  findEntries(query: EntryQuery = {}): Promise<Entry[]> {
    return this.#session.scanEntries(scanOf(query));
  }

  async findEntry(query: EntryQuery = {}): Promise<Entry | undefined> {
    return (await this.findEntries({ ...query, limit: atMostOne(query.limit) }))[0];
  }

  async findEntriesOnBranch(query: BranchQuery = {}): Promise<Entry[]> {
    const start = query.start ?? (await this.getLeafId());
    return start === null ? [] : this.#session.scanBranch({ ...query, start });
  }

  async findEntryOnBranch(query: BranchQuery = {}): Promise<Entry | undefined> {
    return (await this.findEntriesOnBranch({ ...query, limit: atMostOne(query.limit) }))[0];
  }

  async appendMessage(message: AgentMessage): Promise<string> {
    const admitted = this.#session.admitMessage(message);
    if (!admitted.ok) throw new InvalidWrite(admitted.error);
    return this.#writer().append(this.lane, { type: "message", payload: admitted.value });
  }

  async appendCustomEntry(customType: string, data?: JsonValue): Promise<string> {
    const payload = data === undefined ? {} : { payload: detachJson(data) };
    return this.#writer().append(this.lane, { type: "custom", customType, ...payload });
  }
}

/** A cursor as a bound of the listing: bounds there are inclusive, and seqs are whole. */
function scanOf({ cursor, order = "desc", ...rest }: EntryQuery): EntryScan {
  if (cursor === undefined) return { ...rest, order };
  const { seq } = cursor;
  if (order === "desc") return { ...rest, order, toSeq: Math.ceil(seq) - 1 };
  return { ...rest, order, fromSeq: Math.floor(seq) + 1 };
}

function atMostOne(limit: number | undefined): number {
  return Math.min(limit ?? 1, 1);
}
