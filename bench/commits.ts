/** What a commit costs: each store in a process of its own, as a session's process has one store. */
import { runChild } from "./child.ts";
import { type CommitsRequest, MEASURED_STORES } from "./commits-child.ts";

export async function benchCommits(): Promise<void> {
  for (const store of MEASURED_STORES) {
    const request: CommitsRequest = { store };
    await runChild("./commits-child.ts", request);
  }
}
