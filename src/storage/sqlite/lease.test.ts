/**
 * The writer lease (spec §1.7): claim, renewal, takeover after expiry and not before, a fence that never falls, and a
 * superseded writer that changes nothing any more.
 */
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../foundation/index.ts";
import { LeaseLost, type StorageFault } from "../contract.ts";
import { openedSession } from "./creation.ts";
import { LEASE_DURATION_MS, LeaseHeld, readHolder } from "./lease.ts";
import type { SqliteOptions } from "./options.ts";
import { SqliteStorage } from "./storage.ts";
import { entryWrite, factWrite, sampleMetadata, withFile } from "./test-support.ts";

const one = { writes: [factWrite("k", 1)] };

/** Who holds the session in a file. */
function holderOf(path: string) {
  const connection = openedSession({ kind: "file", path }, { readonly: true });
  try {
    return readHolder(connection);
  } finally {
    connection.close();
  }
}

/** A session file with writers over one clock, opened by owner name. */
async function withWriters(
  test: (given: {
    path: string;
    clock: VirtualClock;
    create: (ownerId: string, options?: Partial<SqliteOptions>) => Promise<SqliteStorage>;
    open: (ownerId: string, options?: Partial<SqliteOptions>) => Promise<SqliteStorage>;
  }) => Promise<void>,
): Promise<void> {
  await withFile(async (path) => {
    const clock = new VirtualClock(2_000);
    const source = { kind: "file" as const, path };
    await test({
      path,
      clock,
      create: (ownerId, options) =>
        SqliteStorage.create(source, sampleMetadata, { clock, ownerId, ...options }),
      open: (ownerId, options) => SqliteStorage.open(source, { clock, ownerId, ...options }),
    });
  });
}

describe("the writer lease", () => {
  it("is claimed at creation and at every open, each time under a higher fence", async () => {
    await withWriters(async ({ path, create, open }) => {
      const first = await create("a");
      expect(first.lease).toEqual({ ownerId: "a", fence: 1 });
      expect(holderOf(path)).toEqual({ ownerId: "a", fence: 1, expiresAtMs: 2_000 + LEASE_DURATION_MS });
      await first.close();
      expect(holderOf(path)).toBeUndefined();
      const second = await open("a");
      expect(second.lease).toEqual({ ownerId: "a", fence: 2 });
      await second.close();
    });
  });

  it("is renewed by commits once a quarter of it is used up", async () => {
    await withWriters(async ({ path, clock, create }) => {
      const writer = await create("a", { leaseDurationMs: 1_000 });
      clock.step(200);
      await writer.commit(one);
      expect(holderOf(path)?.expiresAtMs).toBe(3_000);
      clock.step(100);
      await writer.commit(one);
      expect(holderOf(path)?.expiresAtMs).toBe(3_300);
      await writer.close();
    });
  });

  it("is renewed while idle by the timer that was handed in, until the store is closed", async () => {
    await withWriters(async ({ path, clock, create }) => {
      const timers: { intervalMs: number; renew: () => void; isStopped: boolean }[] = [];
      const writer = await create("a", {
        leaseDurationMs: 900,
        idleTimer: (intervalMs, renew) => {
          const timer = { intervalMs, renew, isStopped: false };
          timers.push(timer);
          return () => {
            timer.isStopped = true;
          };
        },
      });
      const [timer] = timers;
      expect(timer).toMatchObject({ intervalMs: 300, isStopped: false });
      clock.step(300);
      timer?.renew();
      expect(holderOf(path)?.expiresAtMs).toBe(2_300 + 900);
      await writer.close();
      expect(timer?.isStopped).toBe(true);
    });
  });

  it("keeps another writer out until it runs out: refused at once, or waited for", async () => {
    await withWriters(async ({ clock, create, open }) => {
      const dead = await create("a", { leaseDurationMs: 1_000 });
      dead.abandon();
      const refused = open("b", { leaseWaitMsMax: 0 });
      await expect(refused).rejects.toBeInstanceOf(LeaseHeld);
      await expect(refused).rejects.toMatchObject({ holder: { ownerId: "a", fence: 1, expiresAtMs: 3_000 } });
      await expect(open("b", { leaseWaitMsMax: 999 })).rejects.toBeInstanceOf(LeaseHeld);
      expect(clock.now()).toBe(2_000);
      const next = await open("b", { leaseWaitMsMax: 1_000 });
      expect(clock.now()).toBe(3_000);
      expect(next.lease).toEqual({ ownerId: "b", fence: 2 });
      await next.close();
    });
  });

  it("keeps out another life of the same name as well", async () => {
    await withWriters(async ({ create, open }) => {
      const first = await create("a");
      await expect(open("a", { leaseWaitMsMax: 0 })).rejects.toBeInstanceOf(LeaseHeld);
      await first.close();
    });
  });

  it("gives up waiting for a writer that lives and renews", async () => {
    await withWriters(async ({ clock, create, open }) => {
      const alive = await create("a", { leaseDurationMs: 1_000 });
      const sleep = clock.sleep.bind(clock);
      const waiting = new Proxy(clock, {
        get: (target, name) =>
          name === "sleep"
            ? async (delayMs: number) => {
                await sleep(delayMs / 2);
                await alive.commit(one);
                await sleep(delayMs / 2);
              }
            : Reflect.get(target, name).bind(target),
      });
      await expect(open("b", { clock: waiting, leaseWaitMsMax: 5_000 })).rejects.toBeInstanceOf(LeaseHeld);
      await alive.commit(one);
      await alive.close();
    });
  });

  it("that ran out and was not taken over still holds", async () => {
    await withWriters(async ({ path, clock, create }) => {
      const writer = await create("a");
      clock.step(10 * LEASE_DURATION_MS);
      await writer.commit(one);
      expect(holderOf(path)).toMatchObject({
        ownerId: "a",
        fence: 1,
        expiresAtMs: clock.now() + LEASE_DURATION_MS,
      });
      await writer.close();
    });
  });

  it("without duration is never waited for, also when the clock stepped back", async () => {
    await withWriters(async ({ clock, create, open }) => {
      const dead = await create("a", { leaseDurationMs: 0 });
      await dead.commit(one);
      dead.abandon();
      clock.step(-500);
      const next = await open("a", { leaseDurationMs: 0 });
      expect(clock.now()).toBe(1_500);
      expect(next.lease.fence).toBe(2);
      await next.close();
    });
  });
});

describe("a superseded writer", () => {
  it("commits nothing: LeaseLost, and its transaction is nowhere", async () => {
    await withWriters(async ({ clock, create, open }) => {
      const stalled = await create("a");
      await stalled.commit({ writes: [entryWrite("e_1", null)] });
      clock.step(LEASE_DURATION_MS);
      const next = await open("b");
      const before = next.dump();
      const commit = stalled.commit({ writes: [entryWrite("e_2", "e_1"), factWrite("k", "stale")] });
      await expect(commit).rejects.toBeInstanceOf(LeaseLost);
      await expect(commit).rejects.toMatchObject({ recovered: false } satisfies Partial<StorageFault>);
      expect(next.dump()).toEqual(before);
      // It stays so, whatever it tries.
      await expect(stalled.commit(one)).rejects.toBeInstanceOf(LeaseLost);
      await expect(stalled.rebuildBranchIndex()).rejects.toBeInstanceOf(LeaseLost);
      await expect(stalled.commitMigration(one, 2)).rejects.toBeInstanceOf(LeaseLost);
      expect(next.dump()).toEqual(before);
      expect(await next.commit(one)).toMatchObject({ firstSeq: 4 });
      await next.close();
      await stalled.close();
    });
  });

  it("that closes releases nothing of its successor's", async () => {
    await withWriters(async ({ path, clock, create, open }) => {
      const stalled = await create("a");
      clock.step(LEASE_DURATION_MS);
      const next = await open("a");
      await stalled.close();
      expect(holderOf(path)).toMatchObject({ ownerId: "a", fence: 2 });
      await next.commit(one);
      await next.close();
    });
  });

  it("does not pass for a successor of the same name after others came and went: the fence never falls", async () => {
    await withWriters(async ({ clock, create, open }) => {
      const stalled = await create("a");
      clock.step(LEASE_DURATION_MS);
      const between = await open("b");
      await between.close();
      const successor = await open("a");
      await expect(stalled.commit(one)).rejects.toBeInstanceOf(LeaseLost);
      await successor.commit(one);
      await successor.close();
      await stalled.close();
    });
  });

  it("learns it while idle, stops its timer, and does not renew", async () => {
    await withWriters(async ({ path, clock, create, open }) => {
      let renew = () => {};
      let isStopped = false;
      const stalled = await create("a", {
        idleTimer: (_, callback) => {
          renew = callback;
          return () => {
            isStopped = true;
          };
        },
      });
      clock.step(LEASE_DURATION_MS);
      const next = await open("b");
      renew();
      expect(isStopped).toBe(true);
      expect(holderOf(path)).toMatchObject({ ownerId: "b" });
      await expect(stalled.commit(one)).rejects.toBeInstanceOf(LeaseLost);
      await next.close();
      await stalled.close();
    });
  });
});
