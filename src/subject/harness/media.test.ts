/** A medium under the Subject contract: forks share nothing, tears leave a part of one commit, reading changes nothing. */
import { appendFileSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VIRTUAL_EPOCH_MS, VirtualClock } from "../../foundation/index.ts";
import { CURRENT_STORAGE_VERSION } from "../../storage/index.ts";
import { openScratch, type Scratch } from "../../subprocess/index.ts";
import type { Disk } from "../contract.ts";
import { JsonlSubjectDisk, jsonlMedium } from "./jsonl-medium.ts";
import type { Medium } from "./medium.ts";
import { memoryMedium } from "./memory-medium.ts";
import { FILE_FORK_SHARE, sqliteMedium } from "./sqlite-medium.ts";

let scratch: Scratch;
beforeAll(() => {
  scratch = openScratch();
});
afterAll(() => scratch.remove());

const metadata = { id: "session", createdAt: VIRTUAL_EPOCH_MS, storageVersion: CURRENT_STORAGE_VERSION };
const MEDIA: readonly Medium[] = [memoryMedium, jsonlMedium, sqliteMedium] as readonly Medium[];

/** Commits one custom entry of that id. */
async function commit(medium: Medium, disk: Disk, ids: readonly string[], options = { abandons: false }) {
  const store = await medium.open(disk, { clock: new VirtualClock() });
  for (const id of ids) {
    await store.storage.commit({
      writes: [{ kind: "entry", entry: { id, parentId: null, type: "custom", customType: "t" } }],
    });
  }
  if (options.abandons) store.abandon();
  else await store.storage.close();
}

const idsOn = (medium: Medium, disk: Disk) => medium.dump(disk).entries.map(({ id }) => id);

describe.each(MEDIA.map((medium) => [medium.id, medium] as const))("the medium %s", (_, medium) => {
  it("gives every session that it provisions a disk of its own", async () => {
    const [one, other] = [
      await medium.provision(metadata, scratch.folder),
      await medium.provision(metadata, scratch.folder),
    ];
    await commit(medium, one, ["a"]);
    expect(idsOn(medium, one)).toEqual(["a"]);
    expect(idsOn(medium, other)).toEqual([]);
  });

  it("forks disks that share nothing, also while a life runs on the original", async () => {
    const disk = await medium.provision(metadata, scratch.folder);
    const { storage, abandon } = await medium.open(disk, { clock: new VirtualClock() });
    const write = (id: string) =>
      storage.commit({
        writes: [{ kind: "entry", entry: { id, parentId: null, type: "custom", customType: "t" } }],
      });
    const forks: Disk[] = [];
    // Enough of them that every way of forking is used.
    for (let count = 0; count < FILE_FORK_SHARE + 1; count++) {
      await write(`live-${count}`);
      forks.push(disk.fork(scratch.folder));
    }
    abandon();
    for (const [count, fork] of forks.entries()) {
      const live = Array.from({ length: count + 1 }, (_, index) => `live-${index}`);
      expect(idsOn(medium, fork)).toEqual(live);
      await commit(medium, fork, ["own"]);
      expect(idsOn(medium, fork)).toEqual([...live, "own"]);
    }
    expect(idsOn(medium, disk)).toHaveLength(forks.length);
    for (const fork of [...forks, disk]) fork.dispose();
  });

  it("keeps what was confirmed when a life is abandoned, and opens again", async () => {
    const disk = await medium.provision(metadata, scratch.folder);
    await commit(medium, disk, ["a"], { abandons: true });
    expect(idsOn(medium, disk)).toEqual(["a"]);
    const again = disk.fork(scratch.folder);
    const clock = new VirtualClock();
    clock.step(60_000);
    const store = await medium.open(again, { clock });
    expect((await store.storage.getEntries(["a"])).size).toBe(1);
    await store.storage.close();
  });
});

describe("a JSONL disk", () => {
  const onDisk = async () => {
    const disk = await jsonlMedium.provision(metadata, scratch.folder);
    expect(disk).toBeInstanceOf(JsonlSubjectDisk);
    return disk;
  };

  it("says where the next commit begins, whatever a dead writer left behind the last line", async () => {
    const disk = await onDisk();
    const whole = readFileSync(disk.path).length;
    expect(disk.size()).toBe(whole);
    for (const torn of ['{"kind"', "x".repeat(200_000)]) {
      appendFileSync(disk.path, torn);
      expect(disk.size()).toBe(whole);
    }
  });

  it("tears the last commit alone, each time at another byte, and every tear is dropped as a whole", async () => {
    const disk = await onDisk();
    await commit(jsonlMedium as Medium, disk, ["a"]);
    const sizeBefore = disk.size();
    await commit(jsonlMedium as Medium, disk, ["b"]);
    const tears = disk.tear(sizeBefore, scratch.folder);
    expect(new Set(tears.map(({ bytesWritten }) => bytesWritten)).size).toBe(tears.length);
    expect(tears.length).toBeGreaterThan(1);
    for (const { bytesWritten, make } of tears) {
      const torn = make() as typeof disk;
      expect(bytesWritten).toBeGreaterThan(0);
      expect(sizeBefore + bytesWritten).toBeLessThan(disk.size());
      expect(idsOn(jsonlMedium as Medium, torn)).toEqual(["a"]);
      await commit(jsonlMedium as Medium, torn, ["c"]);
      expect(idsOn(jsonlMedium as Medium, torn)).toEqual(["a", "c"]);
    }
    expect(idsOn(jsonlMedium as Medium, disk)).toEqual(["a", "b"]);
  });
});
