/**
 * A child that opens one session, keeps it open, and says how much memory its process had at most: what opening costs
 * cannot be told in a process that has done other things before.
 */
import { readFileSync } from "node:fs";
import { VirtualClock } from "../src/foundation/index.ts";
import { JsonlStorage, SqliteStorage } from "../src/storage/index.ts";

export interface OpenRequest {
  readonly kind: "jsonl" | "sqlite" | "nothing";
  readonly path: string;
}

export async function main(): Promise<void> {
  const { kind, path } = JSON.parse(readFileSync(0, "utf8")) as OpenRequest;
  const clock = new VirtualClock();
  if (kind === "jsonl") {
    const storage = JsonlStorage.open({ path, clock });
    await storage.getStats();
  }
  if (kind === "sqlite") {
    const storage = await SqliteStorage.open({ kind: "file", path }, { clock, ownerId: "bench" });
    await storage.getStats();
    await storage.close();
  }
  process.stdout.write(String(process.resourceUsage().maxRSS * 1024));
}
