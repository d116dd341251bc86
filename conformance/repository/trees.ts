/** What an application sees of a session, whatever store it is in (spec §2.4, §2.5, §5.3). */
import assert from "node:assert/strict";
import type { Entry } from "../../src/model/index.ts";
import { listLanes } from "../../src/session/index.ts";
import { rejectsWith } from "../refusal.ts";
import { id } from "../storage/samples.ts";
import { clause, type RepositoryClauseGroup } from "./clause.ts";
import { grow } from "./samples.ts";

const numbers = (entries: readonly Entry[]) => entries.map((entry) => Number(entry.id.slice(-12)));

export const trees: RepositoryClauseGroup = {
  group: "session trees",
  clauses: [
    clause("answer every branch query", "spec §2.5", async (trial) => {
      const session = await trial.create();
      await grow(session);
      const found = async (query: Parameters<typeof session.findEntriesOnBranch>[0], lane = "main") =>
        numbers(await session.view(lane).findEntriesOnBranch(query));
      const seqOf = async (number: number) => ({ seq: (await session.getEntry(id(number)))?.seq ?? 0 });
      assert.deepEqual(await found({}), [5, 4, 3, 2, 1]);
      assert.deepEqual(await found({}, "side"), [7, 6, 2, 1]);
      assert.deepEqual(await found({ order: "oldestFirst" }, "side"), [1, 2, 6, 7]);
      assert.deepEqual(await found({ start: id(4) }), [4, 3, 2, 1]);
      assert.deepEqual(await found({ stopAtType: "compaction" }), [5, 4, 3]);
      assert.deepEqual(await found({ stopAtType: "compaction", order: "oldestFirst" }), [1, 2, 3]);
      assert.deepEqual(await found({ stopAtId: id(2), type: "message" }), [5, 2]);
      assert.deepEqual(await found({ stopAtId: id(3), type: "message" }), [5]);
      assert.deepEqual(await found({ stopAtId: id(6) }), [5, 4, 3, 2, 1]);
      assert.deepEqual(await found({ customType: "note" }), [4]);
      assert.deepEqual(await found({ customType: "other" }), []);
      assert.deepEqual(await found({ cursor: await seqOf(4), limit: 2 }), [3, 2]);
      assert.deepEqual(await found({ cursor: await seqOf(2), order: "oldestFirst", limit: 2 }), [3, 4]);
      assert.deepEqual(await found({ limit: 0 }), []);
      assert.equal((await session.findEntryOnBranch({ type: "compaction" }))?.id, id(3));
      await rejectsWith(session.findEntriesOnBranch({ start: id(99) }), { code: "UNKNOWN_ENTRY" });
      await rejectsWith(session.view("none").findEntriesOnBranch(), { code: "UNKNOWN_LANE" });
    }),

    clause("answer every query over the session", "spec §5.3", async (trial) => {
      const session = await trial.create();
      await grow(session);
      const found = async (query: Parameters<typeof session.findEntries>[0]) =>
        numbers(await session.findEntries(query));
      const cursor = { seq: (await session.getEntry(id(4)))?.seq ?? 0 };
      assert.deepEqual(await found({}), [7, 6, 5, 4, 3, 2, 1]);
      assert.deepEqual(await found({ order: "asc", limit: 3 }), [1, 2, 3]);
      assert.deepEqual(await found({ type: "message" }), [6, 5, 2, 1]);
      assert.deepEqual(await found({ customType: "note" }), [4]);
      assert.deepEqual(await found({ cursor, limit: 2 }), [3, 2]);
      assert.deepEqual(await found({ cursor, order: "asc" }), [5, 6, 7]);
      assert.deepEqual(await found({ cursor, type: "message", limit: 1 }), [2]);
      assert.deepEqual(await found({ limit: 0 }), []);
      assert.equal((await session.findEntry({ order: "asc", type: "message" }))?.id, id(1));
      assert.equal(await session.getEntry(id(99)), undefined);
    }),

    clause(
      "keep facts: the latest counts, undefined deletes, null is a value",
      "spec §2.4",
      async (trial) => {
        const session = await trial.create();
        await grow(session);
        const side = session.view("side");
        await side.setName("another");
        await session.setLabel(id(2), undefined);
        await session.setLabel(id(1), "root");
        await session.setCustomFact("list", undefined);
        await session.setCustomFact("list", undefined);
        await session.close();
        const again = await trial.open(session.metadata);
        assert.equal(await again.getName(), "another");
        assert.deepEqual([await again.getLabel(id(1)), await again.getLabel(id(2))], ["root", undefined]);
        assert.deepEqual(
          [await again.getCustomFact("null"), await again.getCustomFact("list")],
          [null, undefined],
        );
        await again.setName(undefined);
        assert.equal(await again.getName(), undefined);
        await rejectsWith(again.setLabel(id(99), "x"), { code: "UNKNOWN_LABEL_TARGET" });
        assert.equal(await again.view("side").getLeafId(), id(7));
      },
    ),

    clause("append under the leaf of their lane, one after the other", "spec §2.2", async (trial) => {
      const session = await trial.create();
      await grow(session);
      const side = session.view("side");
      const appended = await Promise.all([
        side.appendCustomEntry("a", null),
        side.appendCustomEntry("b"),
        session.appendMessage({ role: "user", content: "main", timestamp: 1 }),
        side.appendCustomEntry("c", 3),
      ]);
      await session.close();
      const again = await trial.open(session.metadata);
      const branch = await again.view("side").findEntriesOnBranch({ limit: 4 });
      assert.deepEqual(
        branch.map((entry) => entry.id),
        [appended[3], appended[1], appended[0], id(7)],
      );
      assert.equal(await again.getLeafId(), appended[2]);
      assert.deepEqual(
        (await listLanes(again)).map(({ name, leafId }) => [name, leafId]),
        [
          ["main", appended[2]],
          ["side", appended[3]],
        ],
      );
    }),
  ],
};
