/** Isolation: what a caller handed in or got out shares nothing mutable with the store (contract 5). */
import assert from "node:assert/strict";
import type { Write } from "../../src/model/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { type ClauseGroup, everywhere, live } from "./clause.ts";
import { compaction, custom, fact, id, message, set, usage } from "./samples.ts";
import { agree, type Trial } from "./trial.ts";

function someWrites(): Write[] {
  return [
    message(id(1), null),
    custom(id(2), id(1), "note", { list: [{ deep: [1, 2] }] }),
    compaction(id(3), id(2)),
    usage(id(4), { input: 5 }, { entryId: id(1), details: { list: [1] } }),
    fact("k", { list: [{ deep: [1, 2] }] }),
    set("lane.config", "main", {
      model: { provider: "acme", modelId: "large" },
      thinkingLevel: "off",
      activeToolNames: ["read"],
    }),
  ];
}

/** Every read of the contract, by name. */
const READS: Readonly<Record<string, (storage: Storage) => Promise<unknown>>> = {
  getEntries: (storage) => storage.getEntries([id(1), id(2), id(3)]),
  getRegister: (storage) => storage.getRegister("fact.custom", "k"),
  listRegisters: (storage) => storage.listRegisters("lane.config"),
  scanBranch: (storage) => storage.scanBranch({ start: id(3) }),
  scanBranchStructure: (storage) => storage.scanBranchStructure({ start: id(3) }),
  scanEntries: (storage) => storage.scanEntries({}),
  scanUsage: (storage) => storage.scanUsage({}),
  getStats: (storage) => storage.getStats(),
};

/** Changes everything that can be changed in a value, at every depth; what is frozen stays as it is. */
function scribble(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const inner = value instanceof Map ? [...value.values()] : Object.values(value);
  for (const member of inner) scribble(member);
  if (value instanceof Map) {
    value.clear();
    value.set("scribbled", true);
  }
  for (const key of Reflect.ownKeys(value)) {
    if (key !== "length") Reflect.set(value, key, "scribbled");
  }
  Reflect.set(value, Array.isArray(value) ? value.length : "scribbled", "scribbled");
}

async function sees(trial: Trial, write: Write): Promise<void> {
  await trial.commit(write);
  await trial.agrees();
}

export const isolation: ClauseGroup = {
  group: "isolation",
  clauses: [
    everywhere(
      "keeps what was committed when the caller changes it afterwards",
      "contract 5",
      async (trial) => {
        const writes = someWrites();
        trial.reference.apply(writes, trial.clock.now());
        await trial.storage.commit({ writes });
        scribble(writes);
        await trial.revisit();
        await trial.agrees();
      },
    ),

    everywhere(
      "takes what was offered at the call: a change in the same turn comes too late",
      "contract 4 and 5",
      async (trial) => {
        const ahead = trial.storage.commit({ writes: [fact("ahead", 1)] });
        trial.reference.apply([fact("ahead", 1)], trial.clock.now());
        const transaction = { writes: someWrites() };
        trial.reference.apply(transaction.writes, trial.clock.now());
        const commit = trial.storage.commit(transaction);
        scribble(transaction);
        await Promise.all([ahead, commit]);
        await trial.revisit();
        await trial.agrees();
      },
    ),

    ...Object.entries(READS).map(([name, read]) =>
      everywhere(
        `gives nothing out of ${name} through which the store can be changed`,
        "contract 5",
        async (trial) => {
          await trial.commit(...someWrites());
          const storage = await trial.revisit();
          scribble(await read(storage));
          await trial.agrees();
          assert.ok(await read(storage));
          await sees(trial, message(id(9), id(3)));
        },
      ),
    ),

    live(
      "gives nothing out of commit through which the store can be changed",
      "contract 5",
      async (trial) => {
        const result = await trial.storage.commit({ writes: [fact("k", 1), message(id(1), null)] });
        trial.reference.apply([fact("k", 1), message(id(1), null)], trial.clock.now());
        scribble(result);
        await sees(trial, message(id(2), id(1)));
      },
    ),

    live(
      "answers what was true at the call: a result does not change with later commits",
      "contract 5",
      async (trial) => {
        await trial.commit(...someWrites());
        const before = await Promise.all(Object.values(READS).map((read) => read(trial.storage)));
        const copies = structuredClone(before);
        await trial.commit(message(id(9), id(3)), fact("k", "changed"), usage(id(10), { input: 1 }));
        assert.deepEqual(before, copies);
      },
    ),

    live("keeps two sessions of one backend apart", "contract: one session", async (trial) => {
      const other = await trial.another();
      await trial.commit(...someWrites());
      await agree(other.storage, other.reference);
      await other.commit(fact("k", "other"), message(id(1), null));
      await Promise.all([trial.agrees(), other.agrees()]);
    }),
  ],
};
