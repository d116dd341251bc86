/**
 * A child that opens one session, keeps it open, and says how much memory its process had at most: what opening costs
 * cannot be told in a process that has done other things before.
 */
import { readFileSync } from "node:fs";
import { openJsonl } from "./stores.ts";

export interface OpenRequest {
  /** Absent: nothing is opened. */
  readonly path?: string;
}

export async function main(): Promise<void> {
  const { path } = JSON.parse(readFileSync(0, "utf8")) as OpenRequest;
  const storage = path === undefined ? undefined : openJsonl(path);
  await storage?.getStats();
  process.stdout.write(String(process.resourceUsage().maxRSS * 1024));
}
