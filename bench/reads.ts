/** What reading costs: reopening a long JSONL file, and the newest entries of a long branch. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "../src/foundation/index.ts";
import {
  JsonlStorage,
  MemoryDisk,
  MemoryStorage,
  SqliteStorage,
  type Storage,
} from "../src/storage/index.ts";
import { compare, type Work } from "./measure.ts";
import { grown, METADATA } from "./workload.ts";

const LINES = 50_000;
const clock = new VirtualClock();

export async function benchReads(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "crashproof-bench-"));
  try {
    await benchReopen(join(folder, "long.jsonl"));
    await benchNewest("Memory", async () => new MemoryStorage({ disk: MemoryDisk.create(METADATA), clock }));
    await benchNewest("JSONL", async (name) =>
      JsonlStorage.create({ path: join(folder, `newest-${name}.jsonl`), clock, metadata: METADATA }),
    );
    await benchNewest("SQLite", (name) =>
      SqliteStorage.create({ kind: "file", path: join(folder, `newest-${name}.sqlite`) }, METADATA, {
        clock,
        ownerId: "bench",
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function benchReopen(path: string): Promise<void> {
  const { store } = await grown(JsonlStorage.create({ path, clock, metadata: METADATA }), LINES);
  await store.close();
  await compare({
    name: `JSONL reopen of ${LINES} lines / JSON.parse of them`,
    ours: () => async () => {
      await JsonlStorage.open({ path, clock }).close();
      return 1;
    },
    floor: () => () => {
      let kept = 0;
      for (const line of readFileSync(path, "utf8").split("\n"))
        if (line !== "" && JSON.parse(line) !== null) kept++;
      return kept > 0 ? 1 : 0;
    },
    unit: "reopen",
    goal: { timesMax: 1.6 },
  });
}

async function benchNewest(name: string, make: (name: string) => Promise<Storage>): Promise<void> {
  const short = await grown(await make("short"), 1_000);
  const long = await grown(await make("long"), 100_000);
  const newest =
    ({ store, writer }: Awaited<ReturnType<typeof grown>>): Work =>
    () =>
    async () => {
      for (let count = 0; count < 200; count++) await store.scanBranch({ start: writer.leaf, limit: 100 });
      return 200;
    };
  await compare({
    name: `${name} newest 100 of 100,000 entries / of 1,000`,
    ours: newest(long),
    floor: newest(short),
    unit: "scan",
    goal: { timesMax: 1.3 },
  });
  await short.store.close();
  await long.store.close();
}
