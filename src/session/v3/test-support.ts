/** What the tests of this folder share: legacy files, whole and made of single lines, and what is read of them. */
import { readFileSync } from "node:fs";
import { Corruption } from "../../foundation/index.ts";
import type { CompactionEntry, Entry } from "../../model/index.ts";
import { readV3 } from "./read.ts";

/** A file of `fixtures/sessions`. */
export const fixture = (name: string) =>
  readFileSync(new URL(`../../../fixtures/sessions/${name}.jsonl`, import.meta.url));

/** A file of these lines; a string is a line as it stands. */
export const file = (...lines: (object | string)[]) =>
  Buffer.from(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));

export const HEADER = {
  type: "session",
  version: 3,
  id: "s",
  timestamp: "2026-01-05T09:00:00.000Z",
  cwd: "/p",
};
const T0 = Date.UTC(2026, 0, 5, 9);
const at = (seconds: number) => new Date(T0 + seconds * 1000).toISOString();
export const base = (type: string, id: string, parentId: string | null, seconds: number) => ({
  type,
  id,
  parentId,
  timestamp: at(seconds),
});
export const said = (id: string, parentId: string | null, seconds: number, content: unknown = id) => ({
  ...base("message", id, parentId, seconds),
  message: { role: "user", content, timestamp: T0 + seconds * 1000 },
});

/** Why a file is refused. */
export const corruptionOf = (bytes: Uint8Array): Corruption => {
  try {
    readV3(bytes, "old.jsonl");
  } catch (error) {
    if (error instanceof Corruption) return error;
    throw error;
  }
  throw new Error("the file was read");
};

/** What a file leaves in registers, by namespace and key. */
export const registersOf = (bytes: Uint8Array) =>
  Object.fromEntries(
    readV3(bytes).dump.registers.map(({ namespace, key, value }) => [`${namespace}/${key}`, value]),
  );

/** Who follows whom, by legacy ids. */
export function shapeOf(bytes: Uint8Array): Record<string, string | null> {
  const { dump, idOf } = readV3(bytes);
  const legacy = new Map([...idOf].map(([old, id]) => [id, old]));
  return Object.fromEntries(
    dump.entries.map(({ id, parentId }) => [
      legacy.get(id) ?? id,
      parentId === null ? null : (legacy.get(parentId) ?? parentId),
    ]),
  );
}

/** Who says what in the retained tail of a compaction. */
export const tailTexts = (entry: Entry | undefined) =>
  (entry as CompactionEntry).retainedTail.map((message) => {
    const { role, content, summary } = message as { role: string; content?: unknown; summary?: string };
    return `${role}: ${summary ?? (typeof content === "string" ? content : JSON.stringify(content))}`;
  });
