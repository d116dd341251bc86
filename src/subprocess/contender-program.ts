/** The program that contenders run: {@link runContender} over the built-in subjects. `bundle.ts` bundles this file. */
import { subjectById } from "../subject/index.ts";
import type { ProgramHooks } from "./child.ts";
import { runContender } from "./contender.ts";

export function main(hooks: ProgramHooks): Promise<never> {
  return runContender(subjectById, hooks);
}
