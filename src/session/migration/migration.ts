/**
 * Carrying a session of an older storage version to the current one, when it is opened (spec §7.3, §7.4).
 *
 * Terms. *Migration*: the total mapping from one storage version to the next. *Step*: one migration applied to one
 * session, as one transaction: the converted registers and the new version, both or neither.
 *
 * Invariants.
 * 1. Only registers are converted. Entries and ledger rows stay readable for ever; there are years of them.
 * 2. A step that died leaves the old version whole, and a chain that died goes on at the version that is recorded.
 * 3. A step is a pure function of the registers as they stand, and of nothing else; applied to its own result it
 *    changes nothing.
 * 4. Nothing is committed of a step whose result the current schemas refuse.
 * 5. A session of a newer version is refused and left alone.
 *
 * The store below holds its writer's claim while this runs, so the registers stand still: SQLite by its lease, JSONL
 * by the ownership of its process. There a step is also a compaction, because the version stands in the header.
 */
import { Corruption, jsonEquals } from "../../foundation/index.ts";
import {
  type CustomMessageSchemas,
  type JsonValue,
  REGISTER_NAMESPACES,
  type RegisterNamespace,
  validateRegister,
  type Write,
} from "../../model/index.ts";
import {
  CURRENT_STORAGE_VERSION,
  type MigratableStorage,
  StorageVersionTooNew,
} from "../../storage/index.ts";
import { fromVersion0 } from "./from-version-0.ts";

/** A register whose value may have the shape of any version. */
export interface RawRegister {
  readonly namespace: RegisterNamespace;
  readonly key: string;
  readonly value: JsonValue;
}

/** What a migration makes of the registers: those that change, in order. `undefined` deletes one. */
export interface RegisterChange {
  readonly namespace: RegisterNamespace;
  readonly key: string;
  readonly value: JsonValue | undefined;
}

/** The total mapping from version `from` to the next. */
export interface Migration {
  readonly from: number;
  /** What changed between the two versions, in a sentence. */
  readonly title: string;
  /**
   * Pure, and total over every state that version `from` can leave: what has no natural successor is mapped to an
   * explicit choice. A value of no known shape is returned as it is, and is refused by the last step's validation.
   */
  convert(registers: readonly RawRegister[]): readonly RegisterChange[];
}

/** One step that was committed. */
export interface MigrationStep {
  readonly from: number;
  readonly to: number;
  readonly title: string;
  /** How many registers were written or deleted. */
  readonly changedCount: number;
}

/** How sessions are migrated. */
export interface MigrateOptions {
  /** Schemas of an application's own message roles, for queued messages (spec §2.8). */
  readonly customMessageSchemas?: CustomMessageSchemas | undefined;
  /** Default: `MIGRATIONS`. */
  readonly migrations?: readonly Migration[];
  /** The version to reach. Default: the current one, whose schemas the result is held against. */
  readonly storageVersion?: number;
}

/** Every migration of this program, in order. */
export const MIGRATIONS: readonly Migration[] = [fromVersion0];

/** No migration leads from the version of a session to the current one. Nothing was changed. */
export class MigrationMissing extends Error {
  override readonly name = "MigrationMissing";
  readonly code = "MIGRATION_MISSING";
  readonly from: number;

  constructor(sessionId: string, from: number, to: number) {
    super(
      `session ${sessionId} has storage version ${from}, and no migration leads from it to ${to}; ` +
        "open it with a program between the two first; nothing was changed",
    );
    this.from = from;
  }
}

/**
 * Brings a session to the current storage version, step by step. Returns the steps that were taken.
 * @throws StorageVersionTooNew; MigrationMissing; Corruption `migration_result`, with nothing of the step committed;
 * what the store rejects a commit with.
 */
export async function migrate(
  storage: MigratableStorage,
  options: MigrateOptions = {},
): Promise<readonly MigrationStep[]> {
  const { migrations = MIGRATIONS, storageVersion: target = CURRENT_STORAGE_VERSION } = options;
  const steps: MigrationStep[] = [];
  for (;;) {
    const { id, storageVersion: from } = storage.metadata;
    if (from === target) return steps;
    if (from > target) throw new StorageVersionTooNew(storage.metadata, target);
    const migration = migrations.find((each) => each.from === from);
    if (migration === undefined) throw new MigrationMissing(id, from, target);
    const registers = await registersOf(storage);
    const changes = effectiveChanges(migration, registers);
    if (from + 1 === CURRENT_STORAGE_VERSION) assertCurrent(registers, changes, options.customMessageSchemas);
    await storage.commitMigration({ writes: changes.map(writeOf) }, from + 1);
    steps.push({ from, to: from + 1, title: migration.title, changedCount: changes.length });
  }
}

/** A store that has just been opened, migrated. It is closed if that fails. @throws as `migrate` */
export async function openMigrated<Store extends MigratableStorage>(
  storage: Store,
  options: MigrateOptions = {},
): Promise<Store> {
  try {
    await migrate(storage, options);
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Every register, raw, by namespace and then by key: the same order from every store. */
async function registersOf(storage: MigratableStorage): Promise<RawRegister[]> {
  const lists: RawRegister[][] = [];
  for (const namespace of REGISTER_NAMESPACES) {
    lists.push((await storage.listRegisters(namespace)) as RawRegister[]);
  }
  return lists.flat();
}

/** The changes that change something. */
function effectiveChanges(migration: Migration, registers: readonly RawRegister[]): RegisterChange[] {
  const current = new Map(registers.map((register) => [nameOf(register), register.value]));
  return migration.convert(registers).filter((change) => {
    const before = current.get(nameOf(change));
    return change.value === undefined ? before !== undefined : !jsonEquals(before, change.value);
  });
}

/** Invariant 4. */
function assertCurrent(
  registers: readonly RawRegister[],
  changes: readonly RegisterChange[],
  customSchemas: CustomMessageSchemas | undefined,
): void {
  const result = new Map<string, RegisterChange>();
  for (const each of [...registers, ...changes]) result.set(nameOf(each), each);
  for (const { namespace, key, value } of result.values()) {
    if (value === undefined) continue;
    const issue = validateRegister(namespace, value, customSchemas);
    if (issue === undefined) continue;
    throw new Corruption(
      "migration_result",
      `after the migration, ${issue.path === "" ? "it" : issue.path} is ${issue.found} where ${issue.expected} ` +
        "is expected: the old value has no shape of its version; nothing was changed",
      { subject: `${namespace}/${key}` },
    );
  }
}

function writeOf({ namespace, key, value }: RegisterChange): Write {
  const place = { kind: "register", namespace, key } as const;
  // The values were held against the schemas of their namespaces, or are a stage on the way to that.
  return value === undefined ? { ...place, op: "delete" } : ({ ...place, op: "set", value } as Write);
}

function nameOf({ namespace, key }: { namespace: string; key: string }): string {
  return `${namespace}\u0000${key}`;
}
