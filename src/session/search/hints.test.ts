import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../foundation/index.ts";
import type { FileSessionMetadata, SessionRepository } from "../repository/contract.ts";
import { contentsOf, repositoryOf, say, serviceOver, told } from "./test-support.ts";

/** A clock whose sleepers wait until they are woken. */
class WakingClock implements Clock {
  sleeps: { delayMs: number; wake: () => void }[] = [];

  now(): number {
    return 1;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.sleeps.push({ delayMs, wake: resolve });
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async wakeAll(): Promise<void> {
    for (const { wake } of this.sleeps.splice(0)) wake();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }
}

describe("hints", () => {
  /** A repository that counts what is asked of it. */
  function counting(repository: SessionRepository<FileSessionMetadata>) {
    const calls = { read: 0, list: 0 };
    const counted: SessionRepository<FileSessionMetadata> = {
      create: (options) => repository.create(options),
      open: (metadata) => repository.open(metadata),
      delete: (metadata) => repository.delete(metadata),
      fork: (source, options) => repository.fork(source, options),
      rewrite: (metadata, rules, options) => repository.rewrite(metadata, rules, options),
      read: (metadata, look) => {
        calls.read += 1;
        return repository.read(metadata, look);
      },
      list: (options) => {
        calls.list += 1;
        return repository.list(options);
      },
    };
    return { counted, calls };
  }

  it("are followed once, after the wait, whatever their number", async () => {
    const repository = repositoryOf();
    const metadata = await told(repository, "s", "word");
    const { counted, calls } = counting(repository);
    const waking = new WakingClock();
    const search = serviceOver(counted, { clock: waking, debounceMs: 250 });
    await search.sync();
    const session = await repository.open(metadata);
    await say(session, "fresh");
    const before = { ...calls };
    for (let hint = 0; hint < 10; hint++) search.notify("s");
    expect(waking.sleeps.map(({ delayMs }) => delayMs)).toEqual([250]);
    expect(await search.searchEntries({ text: "fresh" })).toEqual([]);
    await waking.wakeAll();
    expect(await search.searchEntries({ text: "fresh" })).toHaveLength(1);
    expect([calls.read - before.read, calls.list - before.list]).toEqual([1, 0]);
    await say(session, "later");
    search.notify("s");
    await waking.wakeAll();
    expect(await search.searchEntries({ text: "later" })).toHaveLength(1);
    await session.close();
    await search.close();
  });

  it("find a session that no sync has seen, and one that has moved; others cost nothing", async () => {
    const repository = repositoryOf();
    const failures: unknown[] = [];
    const waking = new WakingClock();
    const search = serviceOver(repository, { clock: waking, onFailure: (failure) => failures.push(failure) });
    await told(repository, "new", "word");
    search.notify("new");
    search.notify("unknown");
    await waking.wakeAll();
    expect(await search.searchSessions({ text: "word" })).toHaveLength(1);
    expect(failures).toEqual([]);
    await search.close();
  });

  it("tell of a failure, and leave the service as it is", async () => {
    const repository = repositoryOf();
    const metadata = await told(repository, "s", "word");
    const failures: unknown[] = [];
    const waking = new WakingClock();
    const search = serviceOver(repository, { clock: waking, onFailure: (failure) => failures.push(failure) });
    await search.sync();
    writeFileSync(metadata.path, `${readFileSync(metadata.path, "utf8")}{}\n`);
    search.notify("s");
    await waking.wakeAll();
    expect(failures).toEqual([{ sessionId: "s", error: expect.objectContaining({ code: "CORRUPTION" }) }]);
    expect(await search.searchSessions({ text: "word" })).toHaveLength(1);
    await search.close();
  });

  it("wait no longer than the service: closing ends them, and later ones are nothing", async () => {
    const repository = repositoryOf();
    await told(repository, "s", "word");
    const waking = new WakingClock();
    const failures: unknown[] = [];
    const search = serviceOver(repository, { clock: waking, onFailure: (failure) => failures.push(failure) });
    search.notify("s");
    await search.close();
    search.notify("s");
    expect([waking.sleeps.length, failures]).toEqual([1, []]);
    expect(contentsOf()).toMatchObject({ documents: [], cursors: [] });
  });
});
