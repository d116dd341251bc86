/** The child program of this room's tests: `child-program.ts` with a registry of notebooks. */
import { type ProgramHooks, runChild } from "./child.ts";
import { notebook } from "./test-subject.ts";

const SUBJECTS = [
  notebook("notebook"),
  // These do otherwise than their twins in the parent's process: only a real run can show it.
  notebook("forger", { line: (line) => (line.startsWith("note.answer") ? line.toUpperCase() : line) }),
  notebook("talker", { asksTwice: true }),
];

export function main(hooks: ProgramHooks): Promise<never> {
  return runChild((id) => SUBJECTS.find((subject) => subject.id === id), hooks);
}
