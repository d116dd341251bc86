/** The subjects that the command line knows: the built-in ones, and the canaries, which are asked for by name only. */
import { canarySubject } from "../../fixtures/canaries/index.ts";
import { builtInSubjects, type Subject } from "../subject/index.ts";

/** Those that a command takes when none is named. */
export function allSubjects(): readonly Subject[] {
  return builtInSubjects();
}

/** A subject by its id; `canary:NAME` names the subject of a canary. */
export function subjectById(id: string): Subject | undefined {
  return id.startsWith("canary:")
    ? canarySubject(id)
    : builtInSubjects().find((subject) => subject.id === id);
}
