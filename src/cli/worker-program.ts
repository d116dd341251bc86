/** The program that workers run: `serveUnits` over the subjects of the command line. It is bundled like that of children. */
import { serveUnits } from "../explore/index.ts";
import type { ProgramHooks } from "../subprocess/index.ts";
import { subjectById } from "./subjects.ts";

export function main(hooks: ProgramHooks): Promise<void> {
  return serveUnits(subjectById, hooks);
}
