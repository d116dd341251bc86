/** The program that children run: {@link runChild} over the built-in subjects. `bundle.ts` bundles this file. */
import { subjectById } from "../subject/index.ts";
import { type ProgramHooks, runChild } from "./child.ts";

export function main(hooks: ProgramHooks): Promise<never> {
  return runChild(subjectById, hooks);
}
