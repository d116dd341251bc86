/**
 * A child program for `random-kill.test.ts`: a JSONL store that commits entries of some megabytes, one after another, until
 * it is killed. It announces each write that it is about to begin, and each commit that resolved.
 *
 * Takes one line on standard input: the path of a session file, as JSON.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { idsOfIncarnation, RealClock } from "../foundation/index.ts";
import { type FileSystem, hostFileSystem, JsonlStorage } from "../storage/index.ts";
import type { ProgramHooks } from "./child.ts";
import { ANNOUNCE_DESCRIPTOR } from "./protocol.ts";

/** What is written in a few milliseconds: the parent is told of a write by a pipe, and a busy machine is not quick to wake it. */
const ENTRY_BYTES = 4_000_000;

export async function main(hooks: ProgramHooks): Promise<never> {
  const lines = createInterface({ input: process.stdin });
  const [path] = await new Promise<string[]>((resolve) => lines.once("line", (line) => resolve([line])));
  const clock = new RealClock();
  const fileSystem: FileSystem = {
    ...hostFileSystem,
    write: (...write) => {
      writeSync(ANNOUNCE_DESCRIPTOR, "writing\n");
      return hostFileSystem.write(...write);
    },
  };
  const storage = JsonlStorage.open({ path: JSON.parse(path ?? "") as string, clock, fileSystem });
  const ids = idsOfIncarnation(1, 0, clock);
  const data = "x".repeat(ENTRY_BYTES);
  hooks.warmed();
  for (;;) {
    const entry = { type: "custom" as const, id: ids.next(), parentId: null, customType: "blob", data };
    await storage.commit({ writes: [{ kind: "entry", entry }] });
    writeSync(ANNOUNCE_DESCRIPTOR, "committed\n");
  }
}
