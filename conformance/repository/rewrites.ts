/** Precise rewrites: what a session is after something in it had to go (spec §2.9). */
import assert from "node:assert/strict";
import type { Entry } from "../../src/model/index.ts";
import type { RewriteRules, Session } from "../../src/session/index.ts";
import { rejectsWith } from "../refusal.ts";
import { custom, id, message, set, usage } from "../storage/samples.ts";
import { clause, type RepositoryClauseGroup } from "./clause.ts";
import { configuration, grow, openOperationWrites } from "./samples.ts";
import { commit, type RepositoryTrial, type SessionView, valuesOf, viewOf } from "./trial.ts";

async function closedSession(
  trial: RepositoryTrial,
  ...more: Parameters<typeof commit>[1][]
): Promise<{
  session: Session;
  before: SessionView;
}> {
  const session = await trial.create({ cwd: "/work" });
  await grow(session);
  if (more.length > 0) await commit(session, ...more);
  const before = await viewOf(session);
  await session.close();
  return { session, before };
}

async function rewritten(
  trial: RepositoryTrial,
  session: Session,
  rules: RewriteRules,
): Promise<SessionView> {
  const metadata = await trial.repository.rewrite(session.metadata, rules);
  return viewOf(await trial.open(metadata));
}

const parentsOf = ({ entries }: SessionView) =>
  Object.fromEntries(entries.map((entry) => [number(entry.id), entry.parentId && number(entry.parentId)]));
const number = (entryId: string) => Number(entryId.slice(-12));
const drop = (...numbers: number[]) => ({
  entry: (entry: Entry) => (numbers.some((each) => entry.id === id(each)) ? undefined : entry),
});

export const rewrites: RepositoryClauseGroup = {
  group: "rewrites",
  clauses: [
    clause("that keep everything change nothing but the generation", "spec §2.9", async (trial) => {
      const { session, before } = await closedSession(trial);
      const metadata = await trial.repository.rewrite(session.metadata, {});
      assert.deepEqual(metadata, { ...session.metadata, storeGeneration: 1 });
      const view = await viewOf(await trial.open(metadata));
      assert.deepEqual([view.entries, view.usage, view.stats], [before.entries, before.usage, before.stats]);
      assert.deepEqual(valuesOf(view), valuesOf(before));
    }),

    clause("count every generation, and keep all other metadata", "spec §2.8", async (trial) => {
      const { session } = await closedSession(trial);
      await trial.repository.rewrite(session.metadata, {});
      const second = await trial.repository.rewrite(session.metadata, {});
      assert.deepEqual(second, { ...session.metadata, storeGeneration: 2 });
      const [listed] = await (await trial.handle.another()).list();
      assert.deepEqual(listed, second);
      assert.deepEqual((await trial.open(session.metadata)).metadata, second);
    }),

    clause("join the tree over what goes", "spec §2.9", async (trial) => {
      const { session, before } = await closedSession(trial);
      const view = await rewritten(trial, session, drop(2, 3, 5));
      assert.deepEqual(parentsOf(view), { 1: null, 4: 1, 6: 1, 7: 6 });
      const kept = before.entries.filter(({ id: each }) => [1, 4, 6, 7].includes(number(each)));
      assert.deepEqual(
        view.entries.map(({ id: each, seq, timestamp }) => [each, seq, timestamp]),
        kept.map(({ id: each, seq, timestamp }) => [each, seq, timestamp]),
      );
      const values = valuesOf(view);
      assert.equal(values["lane.leaf/main"], id(4), "a lane stands on the nearest ancestor that stays");
      assert.equal(values[`fact.label/${id(2)}`], undefined);
      assert.equal(values[`fact.label/${id(7)}`], "side");
      assert.equal((view.entries[3] as { fromId?: string }).fromId, id(4));
      assert.deepEqual(
        view.usage.map(({ id: each, entryId }) => [number(each), entryId]),
        [
          [30, undefined],
          [31, undefined],
          [32, undefined],
        ],
      );
      assert.equal(view.stats.messageCount, 2);
      assert.equal(view.stats.usage.input, 15, "what was paid stays paid");
    }),

    clause("prune a branch to its root", "spec §2.9", async (trial) => {
      const { session } = await closedSession(trial);
      const view = await rewritten(trial, session, { ...drop(1, 2, 3, 4, 5, 6, 7), lane: () => false });
      assert.deepEqual(view.entries, []);
      assert.deepEqual(valuesOf(view), {
        "fact.name/": "the name",
        "fact.custom/list": [1, { a: "b" }],
        "fact.custom/null": null,
        "lane.config/main": configuration("main-model"),
        "lane.leaf/main": null,
        "lane.state/main": { currentOperationId: null, pendingNextRun: [] },
      });
    }),

    clause("erase text wherever it was carried", "spec §2.9", async (trial) => {
      const { session } = await closedSession(trial);
      const erased = "[erased]";
      const view = await rewritten(trial, session, {
        entry: (entry) => {
          if (entry.type === "compaction") return { ...entry, summary: erased, retainedTail: [] };
          if (entry.id !== id(2) || entry.type !== "message") return entry;
          return { ...entry, message: { role: "user", content: erased, timestamp: 1 } };
        },
        register: (register) => (register.namespace === "fact.name" ? undefined : register),
        usage: (row) => (row.id === id(32) ? undefined : row),
      });
      const text = JSON.stringify(view);
      for (const gone of ["shared", "what was said", "kept", "the name"])
        assert.ok(!text.includes(gone), gone);
      assert.equal(view.entries.length, 7);
      assert.equal(view.stats.usage.input, 8, "the totals are those of the ledger that stays");
      const dump = await trial.repository.read(session.metadata, (reading) => reading.dump());
      assert.deepEqual(dump.entries, view.entries);
    }),

    clause("mint ids anew, wherever the format knows them", "spec §2.9", async (trial) => {
      const { session } = await closedSession(trial);
      const minted = (entryId: string) => id(1000 + number(entryId));
      const view = await rewritten(trial, session, {
        entry: (entry) => ({ ...entry, id: minted(entry.id), parentId: "disregarded", seq: 1, timestamp: 1 }),
        usage: (row) => ({ ...row, id: minted(row.id) }),
      });
      assert.deepEqual(parentsOf(view), {
        1001: null,
        1002: 1001,
        1003: 1002,
        1004: 1003,
        1005: 1004,
        1006: 1002,
        1007: 1006,
      });
      const values = valuesOf(view);
      assert.deepEqual([values["lane.leaf/main"], values["lane.leaf/side"]], [id(1005), id(1007)]);
      assert.deepEqual(
        [values[`fact.label/${id(1002)}`], values[`fact.label/${id(1005)}`], values[`fact.label/${id(2)}`]],
        ["fork here", "end", undefined],
      );
      assert.equal(
        (view.entries.find((entry) => entry.id === id(1007)) as { fromId?: string }).fromId,
        id(1005),
      );
      assert.deepEqual(
        view.usage.map((row) => [number(row.id), row.entryId]),
        [
          [1030, id(1003)],
          [1031, id(1005)],
          [1032, undefined],
        ],
      );
      assert.deepEqual(values["lane.lastResult/side"], {
        operationId: id(40),
        kind: "run",
        leafId: id(1007),
        finalAssistantEntryId: id(1006),
        outcome: "completed",
      });
    }),

    clause(
      "leave a session that goes on: seqs rise, new ids are free, taken ones are not",
      "contract 3",
      async (trial) => {
        const { session } = await closedSession(trial);
        const metadata = await trial.repository.rewrite(session.metadata, drop(4));
        const again = await trial.open(metadata);
        const newest = Math.max(...(await viewOf(again)).registers.map(({ seq }) => seq));
        const result = await again.commit({ writes: [message(id(4), id(5)), usage(id(33), { input: 1 })] });
        assert.ok(result.firstSeq > newest, "seqs go on behind everything that stays");
        await rejectsWith(again.commit({ writes: [custom(id(5), null)] }), { code: "INVALID_TRANSACTION" });
        assert.equal((await again.findEntriesOnBranch({ start: id(4) })).length, 5);
        assert.equal((await again.getStats()).usage.input, 16);
        assert.equal((await trial.reopened(again)).entries.length, 7);
      },
    ),

    clause(
      "refuse a session that runs something or has something queued, unless told to drop it",
      "spec §2.9",
      async (trial) => {
        const { session, before } = await closedSession(trial, ...openOperationWrites());
        const error = await rejectsWith(trial.repository.rewrite(session.metadata, {}), {
          code: "SESSION_NOT_IDLE",
        });
        assert.ok((error as Error & { registers?: string[] }).registers?.includes(`op.state/${id(50)}`));
        assert.deepEqual(await trial.reopened(await trial.open(session.metadata)), before);
        const metadata = await trial.repository.rewrite(session.metadata, {}, { unfinished: "drop" });
        const values = valuesOf(await viewOf(await trial.open(metadata)));
        assert.deepEqual(values["lane.state/busy"], { currentOperationId: null, pendingNextRun: [] });
        assert.deepEqual(
          Object.keys(values).filter((key) => key.startsWith("op.") || key.startsWith("pending.")),
          [],
        );
      },
    ),

    clause(
      "refuse a session of which a lane alone says that something runs or is queued",
      "spec §2.9",
      async (trial) => {
        const runs = { currentOperationId: id(50), pendingNextRun: [] };
        const queued = { currentOperationId: null, pendingNextRun: [id(51)] };
        for (const state of [runs, queued]) {
          const { session } = await closedSession(trial, set("lane.state", "main", state));
          const refused = trial.repository.rewrite(session.metadata, {});
          await rejectsWith(refused, { code: "SESSION_NOT_IDLE", registers: ["lane.state/main"] });
        }
      },
    ),

    clause("refuse a session that is open, and what is not there", "contract 1", async (trial) => {
      const { session } = await closedSession(trial);
      const open = await trial.open(session.metadata);
      await rejectsWith(trial.repository.rewrite(session.metadata, {}), { code: "SESSION_IS_OPEN" });
      await open.close();
      await trial.repository.delete(session.metadata);
      await rejectsWith(trial.repository.rewrite(session.metadata, {}), { code: "SESSION_NOT_FOUND" });
    }),

    clause(
      "change nothing when a rule throws, or leaves what no session can hold",
      "contract 3",
      async (trial) => {
        const { session, before } = await closedSession(trial);
        const refused: [RewriteRules, string][] = [
          [{ entry: (entry) => ({ ...entry, id: id(1) }) }, "INVALID_REWRITE"],
          [{ usage: (row) => ({ ...row, id: id(1) }) }, "INVALID_REWRITE"],
          [{ entry: (entry) => ({ ...entry, type: "walk" }) as unknown as Entry }, "INVALID_REWRITE"],
          [{ entry: (entry) => ({ ...entry, summary: Number.NaN }) as unknown as Entry }, "INVALID_REWRITE"],
          [{ usage: (row) => ({ ...row, usage: {} }) as unknown as typeof row }, "INVALID_REWRITE"],
          [
            {
              register: (register) =>
                register.namespace === "fact.name"
                  ? ({ ...register, value: 7 } as unknown as typeof register)
                  : register,
            },
            "INVALID_REWRITE",
          ],
        ];
        for (const [rules, code] of refused) {
          await rejectsWith(trial.repository.rewrite(session.metadata, rules), { code });
        }
        const broken = new Error("a rule that throws");
        const throwing = trial.repository.rewrite(session.metadata, {
          usage: () => {
            throw broken;
          },
        });
        assert.equal(await rejectsWith(throwing, { message: broken.message }), broken);
        const again = await trial.open(session.metadata);
        assert.deepEqual(await viewOf(again), before);
        assert.equal(again.metadata.storeGeneration, undefined);
      },
    ),

    clause("keep lanes by name; main always", "spec §2.9", async (trial) => {
      const { session } = await closedSession(trial, set("lane.config", "main", configuration("new")));
      const asked: string[] = [];
      const view = await rewritten(trial, session, {
        lane: (name) => {
          asked.push(name);
          return false;
        },
      });
      assert.deepEqual([...new Set(asked)], ["side"]);
      const lanes = Object.keys(valuesOf(view)).filter((key) => key.startsWith("lane."));
      assert.deepEqual(lanes.sort(), ["lane.config/main", "lane.leaf/main", "lane.state/main"]);
    }),
  ],
};
