/** What reading costs: reopening a long JSONL file, and the newest entries of a long branch. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "../src/storage/index.ts";
import { compare, type Work } from "./measure.ts";
import { jsonlStore, memoryStore, openJsonl, sqliteStore } from "./stores.ts";
import { grown } from "./workload.ts";

const LINES = 50_000;
/** Scans in a slice: fewer are over in a millisecond in memory, and one collection of garbage lasts longer. */
const SCANS_IN_MEMORY = 1_000;
const SCANS_ON_DISK = 100;

export async function benchReads(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "crashproof-bench-"));
  try {
    await benchReopen(join(folder, "long.jsonl"));
    await benchNewest("Memory", SCANS_IN_MEMORY, memoryStore);
    await benchNewest("JSONL", SCANS_IN_MEMORY, (name) => jsonlStore(join(folder, `newest-${name}.jsonl`)));
    await benchNewest("SQLite", SCANS_ON_DISK, (name) => sqliteStore(join(folder, `newest-${name}.sqlite`)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function benchReopen(path: string): Promise<void> {
  const { store } = await grown(jsonlStore(path), LINES);
  await store.close();
  await compare({
    name: `JSONL reopen of ${LINES} lines / JSON.parse of them`,
    ours: () => async () => {
      await openJsonl(path).close();
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

async function benchNewest(
  name: string,
  scans: number,
  make: (name: string) => Storage | Promise<Storage>,
): Promise<void> {
  const short = await grown(await make("short"), 1_000);
  const long = await grown(await make("long"), 100_000);
  const newest =
    ({ store, writer }: Awaited<ReturnType<typeof grown>>): Work =>
    () =>
    async () => {
      for (let count = 0; count < scans; count++) await store.scanBranch({ start: writer.leaf, limit: 100 });
      return scans;
    };
  await compare({
    name: `${name} newest 100 of 100,000 entries / of 1,000`,
    ours: newest(long),
    floor: newest(short),
    unit: "scan",
    goal: { timesMax: 1.3 },
    slices: 5,
  });
  await short.store.close();
  await long.store.close();
}
