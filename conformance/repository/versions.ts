/** Sessions of other storage versions: older ones are brought up, newer ones left alone (spec §2.8, §7.3). */
import assert from "node:assert/strict";
import {
  CURRENT_STORAGE_VERSION,
  type SessionContents,
  type SessionMetadata,
} from "../../src/storage/index.ts";
import { rejectsWith } from "../refusal.ts";
import { id } from "../storage/samples.ts";
import { type RepositoryClauseGroup, versioned } from "./clause.ts";
import { type RepositoryTrial, valuesOf, viewOf } from "./trial.ts";

/** A session as version 0 wrote it: one message, an idle lane, one fact. */
const OLD: SessionContents = {
  entries: [
    {
      type: "message",
      id: id(1),
      parentId: null,
      seq: 3,
      timestamp: 2_000,
      message: { role: "user", content: "said long ago", timestamp: 2_000 },
    },
  ],
  registers: [
    { namespace: "lane.leaf", key: "main", value: id(1), seq: 4 },
    {
      namespace: "lane.config",
      key: "main",
      value: { provider: "acme", modelId: "small", thinkingLevel: "none", tools: ["read"] } as never,
      seq: 5,
    },
    { namespace: "lane.state", key: "main", value: { operation: null, nextRun: [] } as never, seq: 6 },
    { namespace: "fact.name", key: "", value: "old", seq: 7 },
  ],
  usage: [],
};

const MIGRATED = {
  "lane.leaf/main": id(1),
  "lane.config/main": {
    model: { provider: "acme", modelId: "small" },
    thinkingLevel: "off",
    activeToolNames: ["read"],
  },
  "lane.state/main": { currentOperationId: null, pendingNextRun: [] },
  "fact.name/": "old",
};

async function planted(trial: RepositoryTrial, storageVersion: number): Promise<SessionMetadata> {
  assert.ok(trial.handle.plant, "a repository with versions has plant");
  await trial.handle.plant({ id: "planted", createdAt: 1_000, storageVersion }, OLD);
  const [metadata] = await trial.repository.list();
  assert.ok(metadata, "what was planted is listed");
  assert.equal(metadata.storageVersion, storageVersion, "a listing migrates nothing");
  return metadata;
}

export const versions: RepositoryClauseGroup = {
  group: "versions",
  clauses: [
    versioned("migrate an older session when it is opened, once", "contract 5; spec §7.3", async (trial) => {
      const metadata = await planted(trial, 0);
      const session = await trial.open(metadata);
      assert.deepEqual(session.metadata, { ...metadata, storageVersion: CURRENT_STORAGE_VERSION });
      const view = await viewOf(session);
      assert.deepEqual(valuesOf(view), MIGRATED);
      assert.deepEqual(view.entries, OLD.entries);
      assert.deepEqual(await trial.reopened(session), view);
      const [listed] = await (await trial.handle.another()).list();
      assert.deepEqual(listed, session.metadata);
    }),

    versioned("fork an older session in the current version", "contract 5; spec §2.7", async (trial) => {
      const metadata = await planted(trial, 0);
      const fork = await trial.fork(metadata);
      assert.equal(fork.metadata.storageVersion, CURRENT_STORAGE_VERSION);
      assert.deepEqual(valuesOf(await viewOf(fork)), MIGRATED);
    }),

    versioned("rewrite an older session in the current version", "contract 5; spec §2.9", async (trial) => {
      const metadata = await planted(trial, 0);
      const rewritten = await trial.repository.rewrite(metadata, {});
      assert.deepEqual(rewritten, {
        ...metadata,
        storageVersion: CURRENT_STORAGE_VERSION,
        storeGeneration: 1,
      });
      assert.deepEqual(valuesOf(await viewOf(await trial.open(rewritten))), MIGRATED);
    }),

    versioned("read an older session as it stands", "repository contract", async (trial) => {
      const metadata = await planted(trial, 0);
      const dump = await trial.repository.read(metadata, (reading) => reading.dump());
      assert.deepEqual(dump.entries, OLD.entries);
      assert.deepEqual(dump.metadata.storageVersion, 0);
      assert.equal((await trial.repository.list())[0]?.storageVersion, 0);
    }),

    versioned("list a newer session, and do nothing else with it", "contract 5", async (trial) => {
      const metadata = await planted(trial, CURRENT_STORAGE_VERSION + 1);
      const refusal = { code: "STORAGE_VERSION_TOO_NEW", found: CURRENT_STORAGE_VERSION + 1 };
      const { repository } = trial;
      await rejectsWith(repository.open(metadata), refusal);
      await rejectsWith(repository.fork(metadata), refusal);
      await rejectsWith(repository.rewrite(metadata, {}), refusal);
      await rejectsWith(repository.delete(metadata), refusal);
      await rejectsWith(
        repository.read(metadata, () => undefined),
        refusal,
      );
      assert.deepEqual(await repository.list(), [metadata]);
    }),
  ],
};
