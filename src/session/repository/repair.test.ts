/** The explicit repair of a branch index: what a damaged one does, who finds it, what heals it, and what does not. */
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { Corruption, idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import { sqliteMoment, surveySqlite } from "../../storage/index.ts";
import { SessionIsOpen } from "./contract.ts";
import { sqliteRepository } from "./sqlite.ts";
import { withFolder } from "./test-support.ts";

function repositoryIn(folder: string) {
  const clock = new VirtualClock();
  const idGenerator = idsOfIncarnation(5, 0, clock);
  return sqliteRepository({ folder, clock, idGenerator, ownerId: "repair", leaseWaitMsMax: 0 });
}

function faultsOf(path: string): readonly string[] {
  const { branchIndexFaults } = surveySqlite(sqliteMoment(path).image);
  return branchIndexFaults.ok ? branchIndexFaults.value : [branchIndexFaults.error.message];
}

describe("rebuilding a branch index", () => {
  it("heals an index that refused a path, and is done by nothing else", () =>
    withFolder(async (folder) => {
      const repository = repositoryIn(folder);
      const session = await repository.create();
      const { metadata } = session;
      for (const content of ["a", "b", "c"])
        await session.appendMessage({ role: "user", content, timestamp: 1 });
      const path = await session.findEntriesOnBranch();
      await session.close();
      expect(faultsOf(metadata.path)).toEqual([]);

      const database = new Database(metadata.path);
      database.exec(
        "DELETE FROM branch_entries WHERE entry_seq < (SELECT max(entry_seq) FROM branch_entries)",
      );
      database.exec("UPDATE branch_meta SET base_branch_id = 'zz', base_seq = 1");
      database.close();
      expect(faultsOf(metadata.path).length).toBeGreaterThan(0);

      const damaged = await repository.open(metadata);
      await expect(damaged.findEntriesOnBranch()).rejects.toThrow(Corruption);
      await expect(damaged.findEntriesOnBranch()).rejects.toThrow("rebuild the branch index");
      // Not while it is open, and not by opening, reading, appending or closing.
      await expect(repository.rebuildBranchIndex(metadata)).rejects.toBeInstanceOf(SessionIsOpen);
      await damaged.appendMessage({ role: "user", content: "d", timestamp: 1 });
      await damaged.close();
      expect(faultsOf(metadata.path).length).toBeGreaterThan(0);

      await repository.rebuildBranchIndex(metadata);
      expect(faultsOf(metadata.path)).toEqual([]);
      const healed = await repository.open(metadata);
      expect((await healed.findEntriesOnBranch()).slice(1)).toEqual(path);
      await healed.close();
    }));

  it("changes nothing of what the session says, and leaves a sound index as it is", () =>
    withFolder(async (folder) => {
      const repository = repositoryIn(folder);
      const session = await repository.create();
      await session.appendMessage({ role: "user", content: "a", timestamp: 1 });
      await session.close();
      const dump = () => repository.read(session.metadata, (reading) => reading.dump());
      const before = await dump();
      await repository.rebuildBranchIndex(session.metadata);
      expect(await dump()).toEqual(before);
      expect(faultsOf(session.metadata.path)).toEqual([]);
    }));
});
