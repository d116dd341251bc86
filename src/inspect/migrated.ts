/**
 * A session of an older storage version as it will be once it is opened: the migrations run over a copy in memory, whose
 * file nobody sees. So the state that is shown, and the action that is foretold, are those of the next opening.
 */
import { VirtualClock } from "../foundation/index.ts";
import { type MigrationStep, migrate } from "../session/index.ts";
import {
  CURRENT_STORAGE_VERSION,
  dumpJsonl,
  JsonlStorage,
  MemoryFiles,
  type SessionDump,
  SqliteStorage,
} from "../storage/index.ts";
import type { SessionFinding } from "./finding.ts";
import { foreignRoles, schemasFor } from "./foreign-roles.ts";

/** What the next opening makes of a session. */
export interface MigratedDump {
  readonly dump: SessionDump;
  /** Absent for a session of the current version. */
  readonly migration?: NonNullable<SessionFinding["migration"]>;
}

/** @throws Corruption, MigrationMissing: as opening would */
export async function migratedJsonl(bytes: Uint8Array, dump: SessionDump): Promise<MigratedDump> {
  if (dump.metadata.storageVersion === CURRENT_STORAGE_VERSION) return { dump };
  const fileSystem = new MemoryFiles();
  fileSystem.put(PATH, bytes);
  const storage = JsonlStorage.open({ path: PATH, clock: new VirtualClock(), fileSystem });
  try {
    const steps = await migrate(storage, { customMessageSchemas: schemasFor(foreignRoles(dump)) });
    return withSteps(dumpJsonl(PATH, fileSystem), steps);
  } finally {
    await storage.close();
  }
}

/** The same for the bytes of a database. @throws as `migratedJsonl` */
export async function migratedSqlite(image: Uint8Array, dump: SessionDump): Promise<MigratedDump> {
  if (dump.metadata.storageVersion === CURRENT_STORAGE_VERSION) return { dump };
  // Whatever life holds the file does not hold the copy; virtual time waits for its lease at once.
  const options = {
    clock: new VirtualClock(),
    ownerId: "inspection",
    leaseWaitMsMax: Number.MAX_SAFE_INTEGER,
  };
  const storage = await SqliteStorage.open({ kind: "image", bytes: image }, options);
  try {
    const steps = await migrate(storage, { customMessageSchemas: schemasFor(foreignRoles(dump)) });
    return withSteps(storage.dump(), steps);
  } finally {
    await storage.close();
  }
}

/** A finding about a session after its migration, with the version that is stored now. */
export function afterMigration(
  finding: SessionFinding,
  migration: MigratedDump["migration"],
): SessionFinding {
  if (migration === undefined) return finding;
  return { ...finding, metadata: { ...finding.metadata, storageVersion: migration.from }, migration };
}

const PATH = "/session";

function withSteps(dump: SessionDump, steps: readonly MigrationStep[]): MigratedDump {
  const from = steps[0]?.from ?? dump.metadata.storageVersion;
  const to = steps.at(-1)?.to ?? from;
  return { dump, migration: { from, to, titles: steps.map(({ title }) => title) } };
}
