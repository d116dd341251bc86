/** Sessions come, are found, are open once, and go (spec §2.8). */
import assert from "node:assert/strict";
import { isUuidV7 } from "../../src/foundation/index.ts";
import type { SessionMetadata } from "../../src/storage/index.ts";
import { rejectsWith } from "../refusal.ts";
import { fact, id, message } from "../storage/samples.ts";
import { clause, type RepositoryClauseGroup } from "./clause.ts";
import { commit, valuesOf, viewOf } from "./trial.ts";

const ids = (listed: readonly SessionMetadata[]) => listed.map((metadata) => metadata.id);

export const lifecycle: RepositoryClauseGroup = {
  group: "sessions",
  clauses: [
    clause("creates a session with main at the root and nothing else", "spec §2.8", async (trial) => {
      const session = await trial.create();
      const view = await viewOf(session);
      assert.deepEqual(valuesOf(view), {
        "lane.leaf/main": null,
        "lane.state/main": { currentOperationId: null, pendingNextRun: [] },
      });
      assert.deepEqual([view.entries, view.usage], [[], []]);
      assert.deepEqual(await trial.reopened(session), view);
    }),

    clause("records what it was told, when, and in which version", "spec §2.8", async (trial) => {
      trial.clock.step(5_000);
      const session = await trial.create({ id: "named_1", cwd: "/work", parentSessionId: "p" });
      const { id: sessionId, createdAt, storageVersion, cwd, parentSessionId } = session.metadata;
      assert.deepEqual(
        [sessionId, createdAt, cwd, parentSessionId],
        ["named_1", trial.clock.now(), "/work", "p"],
      );
      assert.ok(storageVersion >= 1);
      const [listed] = await (await trial.handle.another()).list();
      assert.deepEqual(listed, session.metadata);
    }),

    clause(
      "mints an id for a session that is given none, and for its entries",
      "spec §1.2",
      async (trial) => {
        const session = await trial.create();
        assert.ok(isUuidV7(session.metadata.id));
        assert.ok(isUuidV7(await session.appendCustomEntry("note")));
      },
    ),

    clause("lists the newest session first, open or closed", "repository contract", async (trial) => {
      const first = await trial.create({ id: "a" });
      trial.clock.step(1);
      await trial.create({ id: "c" });
      await trial.create({ id: "b" });
      await first.close();
      assert.deepEqual(ids(await trial.repository.list()), ["b", "c", "a"]);
      assert.deepEqual(ids(await (await trial.handle.another()).list()), ["b", "c", "a"]);
    }),

    clause("lists nothing where nothing was made", "repository contract", async (trial) => {
      assert.deepEqual(await trial.repository.list(), []);
    }),

    clause("opens what was left, by what another repository lists", "spec §2.8", async (trial) => {
      const session = await trial.create();
      await commit(session, message(id(1), null), fact("k", null));
      const view = await viewOf(session);
      await session.close();
      const other = await trial.handle.another();
      const [metadata] = await other.list();
      assert.ok(metadata);
      const again = trial.keep(await other.open(metadata));
      assert.deepEqual(await viewOf(again), view);
      assert.deepEqual(again.metadata, session.metadata);
    }),

    clause("refuses an id that is taken, and leaves its session alone", "contract 4", async (trial) => {
      const session = await trial.create({ id: "taken" });
      await commit(session, fact("k", 1));
      await rejectsWith(trial.repository.create({ id: "taken" }), { code: "SESSION_EXISTS" });
      const view = await viewOf(session);
      await session.close();
      await rejectsWith(trial.repository.create({ id: "taken" }), { code: "SESSION_EXISTS" });
      assert.deepEqual(await trial.reopened(await trial.open(session.metadata)), view);
    }),

    clause("refuses ids that name no file, or one elsewhere", "contract 4", async (trial) => {
      const bad = [
        "",
        ".",
        "..",
        "../up",
        "a/b",
        "/abs",
        "a\\b",
        "a\0b",
        ".hidden",
        "-x",
        "end.",
        "ä",
        "x".repeat(200),
      ];
      for (const sessionId of bad) {
        await rejectsWith(trial.repository.create({ id: sessionId }), {
          code: "INVALID_SESSION_ID",
          sessionId,
        });
      }
      assert.deepEqual(await trial.repository.list(), []);
    }),

    clause("opens a session once; again when it has been closed", "contract 1", async (trial) => {
      const session = await trial.create();
      const { metadata } = session;
      const refusal = { code: "SESSION_IS_OPEN", sessionId: metadata.id };
      await rejectsWith(trial.repository.open(metadata), refusal);
      await session.close();
      const both = await Promise.allSettled([
        trial.repository.open(metadata),
        trial.repository.open(metadata),
      ]);
      assert.deepEqual(
        both.map(({ status }) => status),
        ["fulfilled", "rejected"],
      );
      for (const one of both) if (one.status === "fulfilled") trial.keep(one.value);
    }),

    clause("is free again after an opening that failed", "contract 1", async (trial) => {
      const session = await trial.create({ id: "gone" });
      await session.close();
      await trial.repository.delete(session.metadata);
      for (let turn = 0; turn < 2; turn++) {
        await rejectsWith(trial.repository.open(session.metadata), {
          code: "SESSION_NOT_FOUND",
          sessionId: "gone",
        });
      }
      await trial.create({ id: "gone" });
    }),

    clause("deletes a session that is closed, and none that is open", "contract 1", async (trial) => {
      const session = await trial.create();
      const other = await trial.create();
      await rejectsWith(trial.repository.delete(session.metadata), { code: "SESSION_IS_OPEN" });
      await commit(session, fact("still", "there"));
      await session.close();
      await trial.repository.delete(session.metadata);
      assert.deepEqual(ids(await trial.repository.list()), [other.metadata.id]);
      await rejectsWith(trial.repository.delete(session.metadata), { code: "SESSION_NOT_FOUND" });
      await rejectsWith(trial.repository.open(session.metadata), { code: "SESSION_NOT_FOUND" });
    }),

    clause(
      "reads one moment of a session that is being written, and changes nothing",
      "spec §2.8",
      async (trial) => {
        const session = await trial.create();
        await commit(session, message(id(1), null), message(id(2), id(1)));
        const { repository } = trial;
        const read = () =>
          repository.read(session.metadata, (reading) => [
            reading.metadata.id,
            reading.scanEntries({ fromSeq: 4, order: "desc" }).map((entry) => entry.id),
            reading.dump().entries.length,
          ]);
        assert.deepEqual(await read(), [session.metadata.id, [id(2)], 2]);
        await commit(session, message(id(3), id(2)));
        assert.deepEqual(await read(), [session.metadata.id, [id(3), id(2)], 3]);
        await session.close();
        assert.deepEqual(await read(), [session.metadata.id, [id(3), id(2)], 3]);
      },
    ),
  ],
};
