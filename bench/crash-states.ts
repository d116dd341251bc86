/** Crash states per second: each medium in a process of its own, from a bundle, as an exploration runs them. */
import { MEDIA } from "../src/subject/index.ts";
import { runChild } from "./child.ts";
import type { CrashStatesRequest } from "./crash-states-child.ts";

export async function benchCrashStates(): Promise<void> {
  for (const { id } of MEDIA) {
    const request: CrashStatesRequest = { medium: id };
    await runChild("./crash-states-child.ts", request);
  }
}
