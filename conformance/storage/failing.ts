/**
 * Failing: death and failure of the medium (contract 1 and refusals; spec §1.7).
 *
 * What must survive: every confirmed commit, whole. What may be lost or kept, but only whole: the commit that was under
 * way. What must never be seen: a part of a commit, or a store that goes on over a medium in doubt.
 */
import assert from "node:assert/strict";
import type { Write } from "../../src/model/index.ts";
import { rejectsWith } from "../refusal.ts";
import type { Capability, Clause, ClauseBody, ClauseGroup } from "./clause.ts";
import { needing } from "./clause.ts";
import { faulted, refuses, underway } from "./refusal.ts";
import { custom, erase, fact, id, message, usage } from "./samples.ts";
import type { Trial } from "./trial.ts";

function confirmed(): Write[] {
  return [message(id(1), null), fact("k", "old"), fact("doomed", 1), usage(id(2), { input: 1 })];
}

/** The commit that is torn or fails: one write of every kind, with text that is cut inside a character. */
function doomed(): Write[] {
  return [
    custom(id(3), id(1), "note", { text: "\u{1f600}\u2028\u00e9" }),
    usage(id(4), { input: 2, reasoning: 1 }),
    fact("k", "new"),
    erase("fact.custom", "doomed"),
  ];
}

/**
 * Whether a store shows `doomed`, which was committed at `committedMs`: whole, or nothing of it; anything else fails
 * the clause. The time is handed in, because opening a store may wait and so move the clock.
 */
async function showsDoomed(trial: Trial, committedMs: number): Promise<boolean> {
  const isThere = (await trial.storage.getEntries([id(3)])).size === 1;
  if (isThere) trial.reference.apply(doomed(), committedMs);
  await trial.agrees();
  return isThere;
}

/** Proves that a store goes on as if nothing had been: next seq, free or taken ids, another reopening. */
async function goesOn(trial: Trial, wasKept: boolean): Promise<void> {
  if (!wasKept) await trial.commit(...doomed());
  await trial.commit(message(id(5), id(3)), fact("k", "after"));
  await trial.agrees();
  await trial.reopen();
  await trial.agrees();
}

function clause(need: Capability, name: string, cites: string, body: ClauseBody): Clause {
  return needing(need === "failedCommit" ? [need] : ["survivesReopen", need], name, cites, body);
}

async function tear(trial: Trial, bytesWritten: number): Promise<number> {
  assert.ok(trial.handle.tearLastCommit, "a backend with tornTail has tearLastCommit");
  const { byteCount } = await trial.handle.tearLastCommit(bytesWritten);
  await trial.reopen();
  return byteCount;
}

/** A commit of `doomed` that fails on the medium. Answers whether the store says that it goes on. */
async function fail(trial: Trial): Promise<boolean> {
  assert.ok(trial.handle.failNextCommit, "a backend with failedCommit has failNextCommit");
  await trial.handle.failNextCommit();
  const error = await refuses(() => trial.storage.commit({ writes: doomed() }), faulted);
  const { recovered } = error as Error & { recovered?: unknown };
  assert.ok(typeof recovered === "boolean", "a StorageFault says whether the store has recovered");
  return recovered;
}

export const failing: ClauseGroup = {
  group: "failing",
  clauses: [
    clause(
      "survivesCrash",
      "keeps every confirmed commit when the process dies",
      "spec §1.7",
      async (trial) => {
        for (let turn = 0; turn < 3; turn++) {
          await trial.commit(message(id(turn), null), fact("k", turn), usage(id(100 + turn), { input: 1 }));
          await crash(trial);
          await trial.agrees();
        }
      },
    ),

    clause(
      "survivesCrash",
      "keeps of commits under way the first ones, each whole",
      "contract 1 and 4",
      async (trial) => {
        const { storage, reference } = trial;
        const committedMs = trial.clock.now();
        const transactions = Array.from({ length: 20 }, (_, index) => [
          message(id(index), null),
          fact("last", index),
        ]);
        // Nobody is told what became of the others; a dead store may leave them unsettled or reject them.
        const [first] = transactions.map((writes) => underway(storage.commit({ writes })));
        await first;
        await crash(trial);
        const kept = (await trial.storage.scanEntries({})).length;
        assert.ok(kept >= 1, "the confirmed commit is lost");
        for (const writes of transactions.slice(0, kept)) reference.apply(writes, committedMs);
        await trial.agrees();
      },
    ),

    clause(
      "tornTail",
      "shows a commit that was torn at any byte whole or not at all, and goes on",
      "contract 1; spec §1.7",
      async (trial) => {
        await trial.commit(...confirmed());
        const committedMs = trial.clock.now();
        await trial.storage.commit({ writes: doomed() });
        const byteCount = await tear(trial, 0);
        assert.ok(byteCount > 0, "the last commit has bytes");
        assert.equal(
          await showsDoomed(trial, committedMs),
          false,
          "of a commit without a byte nothing is left",
        );
        await goesOn(trial, false);
        for (let bytesWritten = 1; bytesWritten < byteCount; bytesWritten++) {
          const one = await trial.another();
          await one.commit(...confirmed());
          await one.storage.commit({ writes: doomed() });
          await tear(one, bytesWritten);
          await goesOn(one, await showsDoomed(one, committedMs));
          await one.dispose();
        }
      },
    ),

    clause("tornTail", "keeps a last commit that has all its bytes", "contract 1", async (trial) => {
      await trial.commit(...confirmed());
      const committedMs = trial.clock.now();
      await trial.storage.commit({ writes: doomed() });
      await tear(trial, Number.MAX_SAFE_INTEGER);
      assert.equal(await showsDoomed(trial, committedMs), true, "the commit was whole");
      await goesOn(trial, true);
    }),

    clause(
      "failedCommit",
      "shows nothing of a commit that failed on the medium",
      "contract: refusals",
      async (trial) => {
        await trial.commit(...confirmed());
        await fail(trial);
        await trial.agrees();
      },
    ),

    clause(
      "failedCommit",
      "goes on after a failure, or refuses every commit, as its fault has said",
      "contract: refusals",
      async (trial) => {
        await trial.commit(...confirmed());
        if (await fail(trial)) {
          await trial.commit(...doomed());
        } else {
          await refuses(() => trial.storage.commit({ writes: doomed() }), faulted);
          await refuses(() => trial.storage.commit({ writes: [fact("k", Number.NaN)] }), faulted);
          await refuses(() => trial.storage.commit({ writes: [] }), faulted);
        }
        await trial.agrees();
      },
    ),

    clause(
      "failedCommit",
      "treats what was queued behind a failure as if it had been called after it",
      "contract 4",
      async (trial) => {
        await trial.commit(...confirmed());
        assert.ok(trial.handle.failNextCommit, "a backend with failedCommit has failNextCommit");
        await trial.handle.failNextCommit();
        const behind = [message(id(9), id(1))];
        const failed = trial.storage.commit({ writes: doomed() });
        const next = trial.storage.commit({ writes: behind }).then(
          (result) => ({ result }),
          (error: unknown) => ({ error }),
        );
        const { recovered } = (await rejectsWith(failed, faulted)) as Error & { recovered?: unknown };
        const outcome = await next;
        if (recovered === true) {
          assert.deepEqual(outcome, { result: trial.reference.apply(behind, trial.clock.now()) });
        } else {
          await rejectsWith("error" in outcome ? Promise.reject(outcome.error) : Promise.resolve(), faulted);
        }
        await trial.agrees();
      },
    ),

    clause(
      "failedCommit",
      "does not let a failed commit take a seq or move the timestamp",
      "contract 1 and 2",
      async (trial) => {
        await trial.commit(...confirmed());
        trial.clock.step(1000);
        const recovered = await fail(trial);
        trial.clock.step(-500);
        if (recovered) await trial.commit(message(id(9), id(1)));
        await trial.agrees();
      },
    ),

    clause("failedCommit", "closes after a failure", "contract: close", async (trial) => {
      await trial.commit(...confirmed());
      await fail(trial);
      await trial.storage.close();
      await trial.storage.close();
    }),

    {
      name: "holds after reopening what it held before the failure, and the failed commit whole if at all",
      cites: "contract 1",
      states: ["live"],
      needs: ["survivesReopen", "failedCommit"],
      body: async (trial) => {
        await trial.commit(...confirmed());
        const committedMs = trial.clock.now();
        const recovered = await fail(trial);
        await trial.reopen();
        const wasKept = await showsDoomed(trial, committedMs);
        assert.ok(
          !(recovered && wasKept),
          "a store that had recovered must not bring the failed commit back",
        );
        await goesOn(trial, wasKept);
      },
    },
  ],
};

async function crash(trial: Trial): Promise<void> {
  assert.ok(trial.handle.crash, "a backend with survivesCrash has crash");
  await trial.handle.crash();
  await trial.reopen();
}
