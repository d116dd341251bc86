/**
 * A session: one store, seen through types (spec §2.8).
 *
 * Terms. *Typed read*: a read whose value was held against its schema; what does not satisfy it is a `Corruption`,
 * never an absence and never a guess. *Admitted transaction*: a deeply frozen copy in the JSON domain (foundation).
 *
 * Invariants.
 * 1. A transaction reaches the store only after every write of it was admitted as JSON and held against its schema
 *    (spec §1.4). What is refused here is a defect of the writer: nothing was written, and the store goes on.
 * 2. A value is validated once. A deeply frozen value that was validated cannot change, so a store that shares what
 *    it was given (spec §1.7: Memory) pays for one validation in the life of the value.
 * 3. The session mints ids and keeps no state of its own beside that; whatever it answers was read from the store.
 */
import { admitJson, Corruption, type IdGenerator, type JsonValue, type Result } from "../foundation/index.ts";
import {
  type AgentMessage,
  type CommitResult,
  type CustomMessageSchemas,
  type Entry,
  NO_CUSTOM_SCHEMAS,
  type Register,
  type RegisterNamespace,
  type ShapeIssue,
  type Transaction,
  type UsageRow,
  validateEntry,
  validateRegister,
  validateTransaction,
  validateUsageRow,
} from "../model/index.ts";
import type {
  BranchScan,
  EntryScan,
  SessionMetadata,
  SessionStats,
  Storage,
  UsageScan,
} from "../storage/index.ts";
import { admitMessage } from "./admit-message.ts";
import { InvalidWrite } from "./invalid-write.ts";
import { MAIN_LANE } from "./lane.ts";
import { type BranchQuery, type EntryQuery, LaneView, type SessionTree } from "./tree.ts";
import { IdleLaneWriter, type TreeWriter } from "./tree-writer.ts";

/** What a session decodes with: schemas of an application's own message roles, by role. */
export interface SessionCodecOptions {
  readonly customMessageSchemas?: CustomMessageSchemas | undefined;
}

export interface SessionOptions<M extends SessionMetadata = SessionMetadata> extends SessionCodecOptions {
  readonly storage: Storage;
  readonly metadata: M;
  readonly idGenerator: IdGenerator;
}

/** See the module header. As a tree, a session is the view of its lane `main` (spec §5.3). */
export class Session<M extends SessionMetadata = SessionMetadata> implements SessionTree {
  readonly metadata: M;
  readonly idGenerator: IdGenerator;
  readonly #storage: Storage;
  readonly #customSchemas: CustomMessageSchemas;
  readonly #validated: WeakSet<object>;
  readonly #main: LaneView;
  #treeWriter: TreeWriter;

  constructor({
    storage,
    metadata,
    idGenerator,
    customMessageSchemas = NO_CUSTOM_SCHEMAS,
  }: SessionOptions<M>) {
    this.metadata = metadata;
    this.idGenerator = idGenerator;
    this.#storage = storage;
    this.#customSchemas = customMessageSchemas;
    this.#validated = validatedUnder(customMessageSchemas);
    this.#treeWriter = new IdleLaneWriter(this);
    this.#main = this.view(MAIN_LANE);
  }

  /** The tree as a lane sees it, existing or not. */
  view(lane: string): LaneView {
    return new LaneView(this, lane, () => this.#treeWriter);
  }

  /**
   * Sends the writes of all views through the harness that drives the session; see `tree-writer.ts`.
   * @throws TypeError if there is one already: two would drive the same operations, each unknown to the other
   */
  writeTreesThrough(writer: TreeWriter): void {
    if (!(this.#treeWriter instanceof IdleLaneWriter)) {
      throw new TypeError("a session is driven by one harness; close that, and open the session again");
    }
    this.#treeWriter = writer;
  }

  /**
   * Validates a whole transaction and commits it.
   * @throws NotJson or InvalidWrite before the store is asked; whatever the store rejects with.
   */
  async commit(transaction: Transaction): Promise<CommitResult> {
    const admitted = admitJson(transaction);
    const issue = validateTransaction(admitted, this.#customSchemas);
    if (issue) throw new InvalidWrite(issue);
    for (const write of admitted.writes) {
      if (write.kind === "register" && write.op === "set" && isObject(write.value)) {
        this.#validated.add(write.value);
      }
    }
    return this.#storage.commit(admitted);
  }

  /** The entries among `ids` that exist. */
  async getEntries(ids: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
    const entries = await this.#storage.getEntries(ids);
    for (const entry of entries.values()) this.#checkEntry(entry);
    return entries;
  }

  /** A register with its value, or undefined if there is none. */
  async getRegister<N extends RegisterNamespace>(
    namespace: N,
    key: string,
  ): Promise<Register<N> | undefined> {
    const register = await this.#storage.getRegister(namespace, key);
    if (register) this.#checkRegister(register);
    return register;
  }

  /** The registers of a namespace whose key starts with `keyPrefix`, by key. */
  async listRegisters<N extends RegisterNamespace>(namespace: N, keyPrefix?: string): Promise<Register<N>[]> {
    const registers = await this.#storage.listRegisters(namespace, keyPrefix);
    for (const register of registers) this.#checkRegister(register);
    return registers;
  }

  /** The path from `start` toward the root (spec §2.5). */
  async scanBranch(query: BranchScan): Promise<Entry[]> {
    const entries = await this.#storage.scanBranch(query);
    for (const entry of entries) this.#checkEntry(entry);
    return entries;
  }

  /** All entries, by seq. */
  async scanEntries(query: EntryScan): Promise<Entry[]> {
    const entries = await this.#storage.scanEntries(query);
    for (const entry of entries) this.#checkEntry(entry);
    return entries;
  }

  /** The ledger, by seq. */
  async scanUsage(query: UsageScan): Promise<UsageRow[]> {
    const rows = await this.#storage.scanUsage(query);
    for (const row of rows) {
      const issue = validateUsageRow(row);
      if (issue) throw undecodable(issue, `usage/${row.id}`);
    }
    return rows;
  }

  getStats(): Promise<SessionStats> {
    return this.#storage.getStats();
  }

  getLeafId(): Promise<string | null> {
    return this.#main.getLeafId();
  }

  getEntry(id: string): Promise<Entry | undefined> {
    return this.#main.getEntry(id);
  }

  getName(): Promise<string | undefined> {
    return this.#main.getName();
  }

  setName(name: string | undefined): Promise<void> {
    return this.#main.setName(name);
  }

  getLabel(targetId: string): Promise<string | undefined> {
    return this.#main.getLabel(targetId);
  }

  setLabel(targetId: string, label: string | undefined): Promise<void> {
    return this.#main.setLabel(targetId, label);
  }

  getCustomFact(key: string): Promise<JsonValue | undefined> {
    return this.#main.getCustomFact(key);
  }

  setCustomFact(key: string, value: JsonValue | undefined): Promise<void> {
    return this.#main.setCustomFact(key, value);
  }

  findEntries(query?: EntryQuery): Promise<Entry[]> {
    return this.#main.findEntries(query);
  }

  findEntry(query?: EntryQuery): Promise<Entry | undefined> {
    return this.#main.findEntry(query);
  }

  findEntriesOnBranch(query?: BranchQuery): Promise<Entry[]> {
    return this.#main.findEntriesOnBranch(query);
  }

  findEntryOnBranch(query?: BranchQuery): Promise<Entry | undefined> {
    return this.#main.findEntryOnBranch(query);
  }

  appendMessage(message: AgentMessage): Promise<string> {
    return this.#main.appendMessage(message);
  }

  appendCustomEntry(customType: string, data?: JsonValue): Promise<string> {
    return this.#main.appendCustomEntry(customType, data);
  }

  /** A message as it may be stored, under the schemas of this session; or the first place where it is not. */
  admitMessage<Message extends object>(message: Message): Result<Message, ShapeIssue> {
    return admitMessage(message, this.#customSchemas);
  }

  /** Seals the store, drains what was admitted, releases it. Idempotent. */
  close(): Promise<void> {
    return this.#storage.close();
  }

  #checkEntry(entry: Entry): void {
    if (this.#validated.has(entry)) return;
    const issue = validateEntry(entry, this.#customSchemas);
    if (issue) throw undecodable(issue, `entry/${entry.id}`);
    if (Object.isFrozen(entry)) this.#validated.add(entry);
  }

  #checkRegister({ namespace, key, value }: Register): void {
    if (isObject(value) && this.#validated.has(value)) return;
    const issue = validateRegister(namespace, value, this.#customSchemas);
    if (issue) throw undecodable(issue, `${namespace}/${key}`);
    if (isObject(value) && Object.isFrozen(value)) this.#validated.add(value);
  }
}

/** The value of a row or register does not satisfy its schema. */
function undecodable(issue: ShapeIssue, subject: string): Corruption {
  const message = `expected ${issue.expected} at ${issue.path || "the root"}, found ${issue.found}`;
  return new Corruption("undecodable", `${message}; nothing was changed`, { subject });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Frozen values that were found right, per set of schemas; shared by all sessions, so that reopening costs nothing. */
const validatedBySchemas = new WeakMap<CustomMessageSchemas, WeakSet<object>>();

function validatedUnder(customSchemas: CustomMessageSchemas): WeakSet<object> {
  let validated = validatedBySchemas.get(customSchemas);
  if (!validated) {
    validated = new WeakSet();
    validatedBySchemas.set(customSchemas, validated);
  }
  return validated;
}
