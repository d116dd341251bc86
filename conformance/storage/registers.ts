/** Registers: current values by namespace and key (spec §1.1, §1.3, §1.4 rule 5, §1.5). */
import assert from "node:assert/strict";
import { REGISTER_NAMESPACES } from "../../src/model/index.ts";
import { type ClauseGroup, everywhere } from "./clause.ts";
import { erase, fact, id, message, set } from "./samples.ts";

/**
 * Keys that sort differently by UTF-16 code unit than by UTF-8 byte or by locale, keys that mean something to a query
 * language, and keys that end a text too early. In order of UTF-16 code unit.
 */
const AWKWARD_KEYS = [
  "",
  "\u0000",
  "\u0000b",
  "!",
  "%",
  "%a",
  "'; drop table registers; --",
  "*",
  "10",
  "9",
  "A",
  "Z",
  "[a]",
  "\\",
  "_",
  "_a",
  "a",
  "a\u0000",
  "a\u0000b",
  "a%",
  "a:b",
  "aB",
  "a_",
  "ab",
  "a\u0301",
  "a\uffff",
  "b",
  "__proto__",
  "z",
  "\u00e1",
  "\u2028",
  "\u{1f600}",
  "\u{10ffff}",
  "\ud7ff",
  "\ue000",
  "\ufffd",
  "\uffff",
].sort();

const PREFIXES = [
  "",
  "a",
  "A",
  "%",
  "_",
  "*",
  "[",
  "\\",
  "\u0000",
  "a\u0000",
  "a%",
  "\u{1f600}",
  "\u{10ffff}",
  "\ud7ff",
  "\ufffd",
  "\uffff",
  // Half of a character is a prefix by code units, and no text that a medium can be asked for.
  "\ud83d",
  "a\udc00",
  "1",
  "aB",
  "none",
];

export const registers: ClauseGroup = {
  group: "registers",
  clauses: [
    everywhere(
      "answers the register with its value and the seq that set it last",
      "spec §1.1",
      async (trial) => {
        await trial.commit(fact("k", { a: [1, null] }));
        await trial.commit(message(id(1), null), fact("k", { a: [2] }));
        const storage = await trial.revisit();
        assert.deepEqual(await storage.getRegister("fact.custom", "k"), {
          namespace: "fact.custom",
          key: "k",
          value: { a: [2] },
          seq: trial.seq(3),
        });
      },
    ),

    everywhere(
      "answers undefined for a register that was never set",
      "contract: getRegister",
      async (trial) => {
        // The replacement character stands for what cannot be encoded, and is a key like any other.
        await trial.commit(fact("k", 1), fact("\ufffd", 1));
        const storage = await trial.revisit();
        for (const key of ["", "K", "k ", "l", "constructor", "__proto__", "\ud83d", "\udc00"]) {
          assert.equal(
            await storage.getRegister("fact.custom", key),
            undefined,
            `fact.custom ${JSON.stringify(key)}`,
          );
        }
        assert.equal(await storage.getRegister("fact.label", "k"), undefined);
      },
    ),

    everywhere("removes a register by deleting it", "spec §1.4 rule 5", async (trial) => {
      await trial.commit(fact("k", 1), fact("l", 2));
      await trial.commit(erase("fact.custom", "k"));
      const storage = await trial.revisit();
      assert.equal(await storage.getRegister("fact.custom", "k"), undefined);
      assert.deepEqual(
        (await storage.listRegisters("fact.custom")).map(({ key }) => key),
        ["l"],
      );
      await trial.agrees();
    }),

    everywhere(
      "creates a deleted register anew, with the seq of the new write",
      "spec §1.4 rule 5",
      async (trial) => {
        await trial.commit(fact("k", { old: true }));
        await trial.commit(erase("fact.custom", "k"));
        await trial.revisit();
        await trial.commit(fact("k", "new"));
        const register = { namespace: "fact.custom", key: "k", value: "new", seq: trial.seq(3) };
        assert.deepEqual(await (await trial.revisit()).getRegister("fact.custom", "k"), register);
      },
    ),

    everywhere("changes nothing by deleting what is absent", "spec §1.4 rule 5", async (trial) => {
      await trial.commit(fact("k", 1), message(id(1), null));
      await trial.commit(erase("fact.custom", "absent"), erase("fact.label", "k"));
      await trial.commit(erase("fact.custom", "absent"));
      await trial.revisit();
      await trial.agrees();
    }),

    everywhere("tells JSON null from absence", "spec §1.3, §2.4", async (trial) => {
      await trial.commit(fact("null", null), set("lane.leaf", "main", null), fact("doomed", null));
      await trial.commit(erase("fact.custom", "doomed"));
      const storage = await trial.revisit();
      assert.deepEqual(await storage.getRegister("fact.custom", "null"), {
        namespace: "fact.custom",
        key: "null",
        value: null,
        seq: trial.seq(1),
      });
      assert.equal((await storage.getRegister("lane.leaf", "main"))?.value, null);
      assert.equal(await storage.getRegister("fact.custom", "doomed"), undefined);
      assert.deepEqual(
        (await storage.listRegisters("fact.custom")).map(({ value }) => value),
        [null],
      );
    }),

    everywhere(
      "keeps falsy values: false, 0, the empty text, the empty list and object",
      "spec §1.3",
      async (trial) => {
        await trial.commit(
          fact("false", false),
          fact("zero", 0),
          fact("text", ""),
          fact("list", []),
          fact("object", {}),
        );
        await trial.commit(set("fact.name", "", ""), set("fact.label", id(1), ""));
        await trial.revisit();
        await trial.agrees();
      },
    ),

    everywhere("keeps the namespaces apart", "spec §1.3", async (trial) => {
      await trial.commit(fact("k", 1), set("fact.label", "k", "label"), set("lane.leaf", "k", null));
      await trial.commit(erase("fact.label", "k"), fact("custom\u0000k", 2), fact(".k", 3));
      const storage = await trial.revisit();
      for (const namespace of REGISTER_NAMESPACES) {
        const expected = trial.reference.registers(namespace).length;
        assert.equal((await storage.listRegisters(namespace)).length, expected, namespace);
      }
      await trial.agrees();
    }),

    everywhere(
      "finds and deletes a register by exactly its key, whatever the key is made of",
      "spec §1.5",
      async (trial) => {
        await trial.commit(...AWKWARD_KEYS.map((key, index) => fact(key, index)));
        const storage = await trial.revisit();
        for (const [index, key] of AWKWARD_KEYS.entries()) {
          const register = { namespace: "fact.custom", key, value: index, seq: trial.seq(index + 1) };
          assert.deepEqual(await storage.getRegister("fact.custom", key), register, JSON.stringify(key));
        }
        for (const key of AWKWARD_KEYS.filter((_, index) => index % 2 === 0)) {
          await trial.commit(erase("fact.custom", key));
        }
        await trial.agrees();
      },
    ),

    everywhere(
      "lists a namespace in the order of its keys by UTF-16 code unit",
      "contract: listRegisters",
      async (trial) => {
        const shuffled = AWKWARD_KEYS.map((key, index) => ({ key, rank: (index * 17) % 37 }));
        shuffled.sort((left, right) => left.rank - right.rank);
        await trial.commit(...shuffled.map(({ key }) => fact(key, key)));
        const listed = await (await trial.revisit()).listRegisters("fact.custom");
        assert.deepEqual(
          listed.map(({ key }) => key),
          AWKWARD_KEYS,
        );
      },
    ),

    everywhere(
      "lists by prefix what starts with it, and nothing that only resembles it",
      "contract: listRegisters",
      async (trial) => {
        await trial.commit(...AWKWARD_KEYS.map((key) => fact(key, key)), set("fact.label", "a", "elsewhere"));
        const storage = await trial.revisit();
        for (const prefix of PREFIXES) {
          assert.deepEqual(
            await storage.listRegisters("fact.custom", prefix),
            trial.reference.registers("fact.custom", prefix),
            `prefix ${JSON.stringify(prefix)}`,
          );
        }
        assert.deepEqual(await storage.listRegisters("op.state", "a"), []);
      },
    ),

    everywhere(
      "keeps all registers of a transaction that sets one twice: the last value, at its seq",
      "spec §1.4 rule 5",
      async (trial) => {
        await trial.commit(fact("k", 1), fact("l", 1), fact("k", 2));
        const storage = await trial.revisit();
        assert.deepEqual(
          (await storage.listRegisters("fact.custom")).map(({ key, value, seq }) => [key, value, seq]),
          [
            ["k", 2, trial.seq(3)],
            ["l", 1, trial.seq(2)],
          ],
        );
      },
    ),
  ],
};
