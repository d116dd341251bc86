/** Forks: what a new session takes over, from a source in whatever state (spec §2.7). */
import assert from "node:assert/strict";
import { zeroUsage } from "../../src/model/index.ts";
import type { Session } from "../../src/session/index.ts";
import { rejectsWith } from "../refusal.ts";
import { custom, fact, id, message, set, usage } from "../storage/samples.ts";
import { clause, type RepositoryClauseGroup } from "./clause.ts";
import { configuration, grow, openOperationWrites } from "./samples.ts";
import { commit, type RepositoryTrial, valuesOf, viewOf } from "./trial.ts";

const IDLE = { currentOperationId: null, pendingNextRun: [] };
const GENERAL_FACTS = {
  "fact.name/": "the name",
  "fact.custom/list": [1, { a: "b" }],
  "fact.custom/null": null,
};

async function grown(trial: RepositoryTrial): Promise<Session> {
  const source = await trial.create({ cwd: "/work" });
  await grow(source);
  return source;
}

const idsOf = async (session: Session) => (await session.scanEntries({})).map((entry) => entry.id);

export const forks: RepositoryClauseGroup = {
  group: "forks",
  clauses: [
    clause("of a branch copy the path to the leaf of main, as main", "spec §2.7", async (trial) => {
      const source = await grown(trial);
      await commit(source, ...openOperationWrites());
      const before = await viewOf(source);
      const fork = await trial.fork(source.metadata);
      const view = await viewOf(fork);
      assert.deepEqual(
        view.entries,
        before.entries.filter((entry) => [1, 2, 3, 4, 5].some((number) => entry.id === id(number))),
      );
      assert.deepEqual(valuesOf(view), {
        ...GENERAL_FACTS,
        [`fact.label/${id(2)}`]: "fork here",
        [`fact.label/${id(5)}`]: "end",
        "lane.config/main": configuration("main-model"),
        "lane.leaf/main": id(5),
        "lane.state/main": IDLE,
      });
      assert.deepEqual(view.usage, []);
      assert.deepEqual(view.stats, { messageCount: 3, usage: zeroUsage() });
      assert.deepEqual(await viewOf(source), before, "the source is as it was");
      assert.deepEqual(await trial.reopened(fork), view);
    }),

    clause("stop at the entry that is named, or before it", "spec §2.7", async (trial) => {
      const source = await grown(trial);
      const cases = [
        [{ entryId: id(4) }, [1, 2, 3, 4]],
        [{ entryId: id(4), position: "at" }, [1, 2, 3, 4]],
        [{ entryId: id(4), position: "before" }, [1, 2, 3]],
        [{ entryId: id(6), scope: "branch" }, [1, 2, 6]],
        [{ entryId: id(1), position: "at" }, [1]],
        [{ entryId: id(1), position: "before" }, []],
        [{ position: "before" }, [1, 2, 3, 4]],
      ] as const;
      for (const [options, expected] of cases) {
        const fork = await trial.fork(source.metadata, options);
        assert.deepEqual(await idsOf(fork), expected.map(id), JSON.stringify(options));
        const last = expected.at(-1);
        assert.equal(await fork.getLeafId(), last === undefined ? null : id(last));
        const labels = (await fork.listRegisters("fact.label")).map(({ key }) => key);
        assert.deepEqual(
          labels,
          [2, 5, 7].filter((number) => expected.some((each) => each === number)).map(id),
        );
      }
    }),

    clause(
      "of the tree copy every branch, every lane with its leaf, every label",
      "spec §2.7",
      async (trial) => {
        const source = await grown(trial);
        await commit(source, ...openOperationWrites());
        const fork = await trial.fork(source.metadata, { scope: "tree" });
        const view = await viewOf(fork);
        assert.deepEqual(view.entries, await source.scanEntries({}));
        assert.deepEqual(valuesOf(view), {
          ...GENERAL_FACTS,
          [`fact.label/${id(2)}`]: "fork here",
          [`fact.label/${id(5)}`]: "end",
          [`fact.label/${id(7)}`]: "side",
          "lane.config/main": configuration("main-model"),
          "lane.config/side": configuration("side-model"),
          "lane.config/busy": configuration("busy-model"),
          "lane.leaf/main": id(5),
          "lane.leaf/side": id(7),
          "lane.leaf/busy": id(2),
          "lane.state/main": IDLE,
          "lane.state/side": IDLE,
          "lane.state/busy": IDLE,
        });
        assert.deepEqual(view.usage, []);
        assert.deepEqual(view.stats, { messageCount: 4, usage: zeroUsage() });
        assert.deepEqual(await trial.reopened(fork), view);
      },
    ),

    clause(
      "name their source, the time of their own making, and what they were told",
      "spec §2.7",
      async (trial) => {
        const source = await grown(trial);
        trial.clock.step(9_000);
        const fork = await trial.fork(source.metadata);
        const { id: forkId, createdAt, cwd, parentSessionId } = fork.metadata;
        assert.notEqual(forkId, source.metadata.id);
        assert.deepEqual([createdAt, cwd, parentSessionId], [trial.clock.now(), "/work", source.metadata.id]);
        const named = await trial.fork(source.metadata, { scope: "tree", id: "named", cwd: "/other" });
        assert.deepEqual([named.metadata.id, named.metadata.cwd], ["named", "/other"]);
        const second = await trial.fork(fork.metadata);
        assert.equal(second.metadata.parentSessionId, forkId);
        assert.equal((await trial.repository.list()).length, 4);
      },
    ),

    clause("keep main unconfigured where it is unconfigured", "spec §2.7", async (trial) => {
      const source = await trial.create();
      await commit(source, message(id(1), null), set("lane.leaf", "main", id(1)));
      for (const scope of ["branch", "tree"] as const) {
        const fork = await trial.fork(source.metadata, { scope });
        assert.deepEqual(valuesOf(await viewOf(fork)), {
          "lane.leaf/main": id(1),
          "lane.state/main": IDLE,
        });
      }
      const empty = await trial.create();
      assert.deepEqual(await idsOf(await trial.fork(empty.metadata)), []);
    }),

    clause(
      "are the same from a source that is open, closed, or open elsewhere",
      "contract 2",
      async (trial) => {
        const source = await grown(trial);
        const shown = async (fork: Session) => ({ ...(await viewOf(fork)), times: fork.metadata.createdAt });
        const open = await shown(await trial.fork(source.metadata, { scope: "tree" }));
        const other = await trial.handle.another();
        const elsewhere = await shown(trial.keep(await other.fork(source.metadata, { scope: "tree" })));
        await source.close();
        const closed = await shown(await trial.fork(source.metadata, { scope: "tree" }));
        assert.deepEqual(elsewhere, open);
        assert.deepEqual(closed, open);
      },
    ),

    clause("see their source between two commits, never inside one", "contract 2", async (trial) => {
      const source = await trial.create();
      const pair = (turn: number) => [
        custom(id(2 * turn + 1), turn === 0 ? null : id(2 * turn), "first"),
        custom(id(2 * turn + 2), id(2 * turn + 1), "second"),
        set("lane.leaf", "main", id(2 * turn + 2)),
        fact("turns", turn + 1),
      ];
      const commits: Promise<unknown>[] = [];
      const forking: Promise<Session>[] = [];
      for (let turn = 0; turn < 12; turn++) {
        commits.push(source.commit({ writes: pair(turn) }));
        if (turn % 3 === 1)
          forking.push(trial.fork(source.metadata, { scope: turn % 2 ? "tree" : "branch" }));
        if (turn % 4 === 0) await Promise.resolve();
      }
      await Promise.all(commits);
      for (const fork of await Promise.all(forking)) {
        const entries = await fork.scanEntries({});
        const turns = (await fork.getCustomFact("turns")) as number;
        assert.equal(entries.length, 2 * turns, "as many entries as the fact of the same commit says");
        assert.equal(await fork.getLeafId(), id(2 * turns));
        assert.equal((await fork.findEntriesOnBranch()).length, 2 * turns);
      }
    }),

    clause("go their own way: neither sees what the other writes", "spec §2.7", async (trial) => {
      const source = await grown(trial);
      const fork = await trial.fork(source.metadata);
      const before = await viewOf(source);
      const later = await fork.appendMessage({ role: "user", content: "later", timestamp: 1 });
      await fork.setName("the fork");
      await commit(fork, usage(id(60), { input: 1 }));
      assert.deepEqual(await viewOf(source), before);
      await source.setCustomFact("only", "source");
      assert.equal(await fork.getCustomFact("only"), undefined);
      const again = await trial.reopened(fork);
      assert.equal(again.entries.at(-1)?.id, later);
      assert.equal(again.stats.usage.input, 1, "the ledger of a fork starts at zero");
    }),

    clause("refuse an entry that is not in the source, and make nothing", "contract 2", async (trial) => {
      const source = await grown(trial);
      const refusal = { code: "UNKNOWN_FORK_POINT", entryId: id(99) };
      await rejectsWith(trial.repository.fork(source.metadata, { entryId: id(99) }), refusal);
      await rejectsWith(trial.repository.fork(source.metadata, { id: source.metadata.id }), {
        code: "SESSION_EXISTS",
      });
      await rejectsWith(trial.repository.fork(source.metadata, { id: "../x" }), {
        code: "INVALID_SESSION_ID",
      });
      assert.equal((await trial.repository.list()).length, 1);
    }),

    clause("refuse a source that is not there", "contract 4", async (trial) => {
      const source = await trial.create();
      await source.close();
      await trial.repository.delete(source.metadata);
      await rejectsWith(trial.repository.fork(source.metadata), { code: "SESSION_NOT_FOUND" });
      assert.deepEqual(await trial.repository.list(), []);
    }),
  ],
};
