/** Ids and parents: one namespace for entries and usage rows, parents first (contract 3; spec §1.2, §1.4 rules 3 and 4). */
import assert from "node:assert/strict";
import { type ClauseGroup, everywhere, live } from "./clause.ts";
import { invalid } from "./refusal.ts";
import { custom, erase, fact, id, message, set, usage } from "./samples.ts";

export const ids: ClauseGroup = {
  group: "ids and parents",
  clauses: [
    everywhere(
      "refuses an id that exists, whatever kind has it and whatever kind wants it",
      "contract 3",
      async (trial) => {
        await trial.commit(message(id(1), null), usage(id(2), {}));
        await trial.revisit();
        await trial.refuse({ writes: [message(id(1), null)] }, invalid("duplicate_id", 0));
        await trial.refuse({ writes: [fact("k", 1), custom(id(2), null)] }, invalid("duplicate_id", 1));
        await trial.refuse({ writes: [usage(id(1), { input: 1 })] }, invalid("duplicate_id", 0));
        await trial.refuse({ writes: [message(id(3), id(1)), usage(id(2), {})] }, invalid("duplicate_id", 1));
      },
    ),

    live(
      "refuses an equal copy of what exists: a row is written once, not put",
      "contract 3",
      async (trial) => {
        await trial.commit(message(id(1), null), usage(id(2), { input: 1 }));
        await trial.refuse({ writes: [message(id(1), null)] }, invalid("duplicate_id", 0));
        await trial.refuse({ writes: [usage(id(2), { input: 1 })] }, invalid("duplicate_id", 0));
      },
    ),

    live(
      "refuses an id that is written twice in one transaction, also across kinds",
      "contract 3",
      async (trial) => {
        const pairs = [
          [message(id(1), null), custom(id(1), null)],
          [usage(id(1), {}), usage(id(1), {})],
          [message(id(1), null), usage(id(1), {})],
          [usage(id(1), {}), message(id(1), null)],
        ];
        for (const [first, second] of pairs) {
          await trial.refuse({ writes: [first, fact("k", 1), second] }, invalid("duplicate_id", 2));
        }
        await trial.commit(message(id(1), null));
      },
    ),

    everywhere("keeps register keys apart from ids", "contract 3", async (trial) => {
      await trial.commit(
        message(id(1), null),
        usage(id(2), {}),
        fact(id(1), 1),
        fact(id(2), 2),
        fact(id(3), 3),
      );
      await trial.commit(message(id(3), null));
      await trial.revisit();
      await trial.agrees();
      await trial.commit(erase("fact.custom", id(1)));
      await trial.refuse({ writes: [usage(id(1), {})] }, invalid("duplicate_id", 0));
    }),

    live("refuses an entry whose parent does not exist", "contract 3; spec §1.2", async (trial) => {
      await trial.refuse({ writes: [message(id(2), id(1))] }, invalid("missing_parent", 0));
      await trial.commit(usage(id(1), {}), fact(id(5), 1), set("lane.leaf", "main", id(6)));
      await trial.refuse({ writes: [fact("k", 1), message(id(2), id(1))] }, invalid("missing_parent", 1));
      await trial.refuse({ writes: [message(id(2), id(5))] }, invalid("missing_parent", 0));
      await trial.refuse({ writes: [message(id(2), id(6))] }, invalid("missing_parent", 0));
      await trial.refuse({ writes: [message(id(2), id(2))] }, invalid("missing_parent", 0));
    }),

    everywhere(
      "takes a parent that precedes its child in the transaction, and none that follows it",
      "contract 3",
      async (trial) => {
        await trial.refuse(
          { writes: [message(id(2), id(1)), message(id(1), null)] },
          invalid("missing_parent", 0),
        );
        await trial.commit(message(id(9), null), message(id(5), id(9)), fact("k", 1), custom(id(7), id(5)));
        const storage = await trial.revisit();
        assert.deepEqual(
          (await storage.scanBranch({ start: id(7) })).map((entry) => entry.id),
          [id(7), id(5), id(9)],
        );
      },
    ),

    everywhere("allows several roots and several children of one parent", "spec §1.1", async (trial) => {
      await trial.commit(message(id(1), null), message(id(2), null));
      await trial.commit(message(id(3), id(1)), message(id(4), id(1)), message(id(5), id(1)));
      await trial.revisit();
      await trial.agrees();
      await trial.commit(message(id(6), null), message(id(7), id(3)));
      await trial.agrees();
    }),

    live("refuses an empty transaction", "contract: refusals", async (trial) => {
      await trial.refuse({ writes: [] }, invalid("empty"));
    }),

    live("refuses what is no transaction at all", "contract: refusals", async (trial) => {
      for (const transaction of [
        null,
        [],
        [fact("k", 1)],
        "writes",
        {},
        { writes: null },
        { writes: fact("k", 1) },
      ]) {
        await trial.refuse(transaction, invalid("malformed"));
      }
    }),

    live("refuses a malformed write and says which one it is", "contract: refusals", async (trial) => {
      for (const malformed of MALFORMED) {
        await trial.refuse({ writes: [fact("k", 1), malformed] }, invalid("malformed", 1));
      }
    }),
  ],
};

/** Writes whose structure is wrong; what is wrong with each is in its key. */
const MALFORMED: readonly unknown[] = Object.values({
  null: null,
  text: "register",
  array: [],
  noKind: { entry: message(id(1), null).entry },
  unknownKind: { kind: "tombstone", id: id(1) },
  noEntry: { kind: "entry" },
  entryWithoutId: { kind: "entry", entry: { type: "custom", parentId: null, customType: "note" } },
  entryWithoutParent: { kind: "entry", entry: { type: "custom", id: id(1), customType: "note" } },
  entryOfUnknownType: { kind: "entry", entry: { type: "thought", id: id(1), parentId: null } },
  entryWithSeq: { kind: "entry", entry: { ...custom(id(1), null).entry, seq: 7 } },
  entryWithTimestamp: { kind: "entry", entry: { ...custom(id(1), null).entry, timestamp: 7 } },
  customWithoutCustomType: { kind: "entry", entry: { type: "custom", id: id(1), parentId: null } },
  noRow: { kind: "usage" },
  rowWithoutId: { kind: "usage", row: { usage: usage(id(1), {}).row.usage, adjustment: false } },
  rowWithoutUsage: { kind: "usage", row: { id: id(1), adjustment: false } },
  rowWithoutAmounts: { kind: "usage", row: { id: id(1), usage: {}, adjustment: false } },
  rowWithSeq: { kind: "usage", row: { ...usage(id(1), {}).row, seq: 7 } },
  noOp: { kind: "register", namespace: "fact.custom", key: "k" },
  unknownOp: { kind: "register", op: "rename", namespace: "fact.custom", key: "k" },
  setWithoutValue: { kind: "register", op: "set", namespace: "fact.custom", key: "k" },
  setWithoutKey: { kind: "register", op: "set", namespace: "fact.custom", value: 1 },
  setOfNumberedKey: { kind: "register", op: "set", namespace: "fact.custom", key: 5, value: 1 },
  unknownNamespace: { kind: "register", op: "set", namespace: "fact.other", key: "k", value: 1 },
  deleteInUnknownNamespace: { kind: "register", op: "delete", namespace: "toString", key: "k" },
});
