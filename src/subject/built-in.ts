/** The systems that come with the package, as subjects, in the order in which reports show them. */
import type { Subject } from "./contract.ts";
import { jsonlMedium } from "./harness/jsonl-medium.ts";
import type { Medium } from "./harness/medium.ts";
import { memoryMedium } from "./harness/memory-medium.ts";
import { sqliteMedium } from "./harness/sqlite-medium.ts";
import { harnessSubject } from "./harness/subject.ts";
import { txlogSubject } from "./txlog/subject.ts";

/** The media under the harness. */
export const MEDIA: readonly Medium[] = [memoryMedium, jsonlMedium, sqliteMedium];

const SUBJECTS: readonly Subject[] = [...MEDIA.map((medium) => harnessSubject(medium)), txlogSubject()];

export function builtInSubjects(): readonly Subject[] {
  return SUBJECTS;
}

/** The built-in subject of an id, or undefined. */
export function subjectById(id: string): Subject | undefined {
  return SUBJECTS.find((subject) => subject.id === id);
}
