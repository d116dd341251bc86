/** What a store says of itself after a commit is said of that commit, also where two were asked for at once. */
import { expect, it } from "vitest";
import { VirtualClock } from "../foundation/index.ts";
import type { Transaction } from "../model/index.ts";
import { CURRENT_STORAGE_VERSION, MemoryDisk, MemoryStorage } from "../storage/index.ts";
import { Gate, InstrumentedStorage, type RecordedCommit, Timeline } from "./index.ts";

const clock = new VirtualClock();
const id = (last: number) => `01900000-0000-7000-8000-00000000000${last}`;
const message = (entryId: string, parentId: string | null): Transaction => ({
  writes: [
    {
      kind: "entry",
      entry: {
        id: entryId,
        parentId,
        type: "message",
        message: { role: "user", content: "hello", timestamp: clock.now() },
      },
    },
  ],
});

it("records two commits that are asked for at once one after the other", async () => {
  const disk = MemoryDisk.create({
    id: id(0),
    createdAt: clock.now(),
    storageVersion: CURRENT_STORAGE_VERSION,
  });
  const timeline = new Timeline();
  const gate = new Gate({ open: true });
  const storage = new InstrumentedStorage(new MemoryStorage({ disk, clock }), {
    gate,
    timeline,
    label: () => "tree.append",
  });
  await Promise.all([storage.commit(message(id(1), null)), storage.commit(message(id(2), null))]);
  const counts = timeline.events.map((event) => {
    return event.kind === "commit" ? (event.payload as RecordedCommit).stats.messageCount : event.kind;
  });
  expect(counts).toEqual([1, 2]);
});
