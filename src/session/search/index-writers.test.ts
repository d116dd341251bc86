/** An index whose writers die, or are several: what it holds in the end is what one writer makes that lives. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { Connect } from "../../storage/index.ts";
import { IndexDatabase } from "./index-database.ts";
import { contentsOf, repositoryOf, scratch, serviceOver, told } from "./test-support.ts";

describe("a crash", () => {
  /** A driver that dies at one of its statements, before or after it has run. */
  function dyingDriver(
    call: number,
    when: "before" | "after",
  ): { connect: Connect; hasFired: () => boolean } {
    let calls = 0;
    let isDead = false;
    const connect: Connect = (filename, options) => {
      const database = new Database(filename, options);
      const prepare = database.prepare.bind(database);
      database.prepare = ((sql: string) => {
        const statement = prepare(sql);
        const run = statement.run.bind(statement);
        statement.run = (...parameters: unknown[]) => {
          if (isDead) throw new Error("the process is dead");
          calls += 1;
          if (calls !== call) return run(...parameters);
          isDead = true;
          if (when === "after") run(...parameters);
          throw new Error("the process dies");
        };
        return statement;
      }) as typeof database.prepare;
      return database;
    };
    return { connect, hasFired: () => isDead };
  }

  it.each(["before", "after"] as const)(
    "%s any statement of a sync costs nothing: the next one ends at the same index",
    async (when) => {
      const repository = repositoryOf();
      const metadata = await told(
        repository,
        "s",
        ...Array.from({ length: 8 }, (_, count) => `word ${count}`),
      );
      await told(repository, "t", "word");
      const path = (name: string) => join(scratch, name);
      const reference = serviceOver(repository, { path: path("reference.db"), batchEntries: 3 });
      await reference.sync();
      await reference.close();
      const before = contentsOf(path("reference.db"));
      for (let call = 1; ; call++) {
        const name = `index-${call}.db`;
        const driver = dyingDriver(call, when);
        try {
          const search = serviceOver(repository, {
            path: path(name),
            batchEntries: 3,
            connect: driver.connect,
          });
          await search.sync().catch(() => undefined);
          await search.close();
        } catch {
          // It died while the index was made.
        }
        const next = serviceOver(repository, { path: path(name), batchEntries: 3 });
        await next.sync();
        await next.close();
        expect(contentsOf(path(name))).toEqual(before);
        if (!driver.hasFired()) break;
        expect(call).toBeLessThan(500);
      }
      await repository.rewrite(metadata, {});
      const after = serviceOver(repository, { path: path("reference.db"), batchEntries: 3 });
      await after.sync();
      await after.close();
      expect(contentsOf(path("reference.db"))).toMatchObject({ words: 9 });
    },
  );
});

describe("two services on one index", () => {
  it("end at the same index as one, however their pulls interleave", async () => {
    const repository = repositoryOf();
    for (const id of ["a", "b", "c"]) {
      await told(repository, id, ...Array.from({ length: 10 }, (_, count) => `word ${id} ${count}`));
    }
    const alone = serviceOver(repository, { path: join(scratch, "alone.db") });
    await alone.sync();
    await alone.close();
    const services = [1, 2, 3].map((batchEntries) => serviceOver(repository, { batchEntries }));
    await Promise.all([...services, ...services].map((service) => service.sync()));
    for (const service of services) await service.close();
    expect(contentsOf()).toEqual(contentsOf(join(scratch, "alone.db")));
  });

  it("take nothing that was read before the other started over, removed, or went on", () => {
    const path = join(scratch, "unit.db");
    const one = IndexDatabase.open(path);
    const other = IndexDatabase.open(path);
    const document = (entryId: string) => ({ entryId, timestamp: 1, text: `word ${entryId}` });
    const cursor = one.startOver("s", undefined, 0);
    if (cursor === undefined) throw new Error("there is a cursor");
    expect(other.startOver("s", undefined, 0)).toEqual(cursor);
    const moved = other.add("s", cursor, [document("e1")], { seq: 1, entryId: "e1" });
    expect(one.add("s", cursor, [document("e1"), document("e2")], { seq: 2, entryId: "e2" })).toBeUndefined();
    expect(one.cursorOf("s")).toEqual(moved);
    const again = other.startOver("s", moved, 1);
    expect(moved && one.add("s", moved, [document("stale")], { seq: 3, entryId: "stale" })).toBeUndefined();
    expect(one.startOver("s", moved, 0)).toEqual(again);
    expect(other.remove("s")).toBe(true);
    expect(again && one.add("s", again, [document("stale")], { seq: 3, entryId: "stale" })).toBeUndefined();
    expect([one.sessionIds(), one.remove("s")]).toEqual([[], false]);
    const fresh = one.startOver("s", undefined, 1);
    expect(fresh?.epoch).toBeGreaterThan(again?.epoch ?? 0);
    one.close();
    other.close();
    expect(contentsOf(path)).toMatchObject({ documents: [], words: 0 });
  });
});
