/**
 * `inspectPath`: what stands at a path, as an `Inspection`. It reads and writes nothing, waits for nobody, and answers for
 * every path: what cannot be read is a finding too.
 */
import { lookAtFile } from "./file.ts";
import { type FileFinding, INSPECT_SCHEMA, type Inspection, type Verdict } from "./finding.ts";
import { folderFinding } from "./folder.ts";
import { lookAt } from "./open-file.ts";

/** How a path is looked at. */
export interface InspectOptions {
  /** Unix ms; decides which leases and waits have run out. */
  readonly nowMs: number;
}

/** See the module header. */
export async function inspectPath(path: string, { nowMs }: InspectOptions): Promise<Inspection> {
  const found = lookAt(path);
  switch (found.kind) {
    case "none": {
      const says = `unreadable: ${found.says}`;
      const file: FileFinding = { path, kind: "other", verdict: "unreadable", says, beside: [] };
      return { schema: INSPECT_SCHEMA, path, target: "none", verdict: "unreadable", files: [file] };
    }
    case "file": {
      const { file, ...beside } = await lookAtFile(path, found.byteLength, nowMs);
      const head = { schema: INSPECT_SCHEMA, path, target: "file", verdict: file.verdict } as const;
      return { ...head, files: [file], ...beside };
    }
    case "folder": {
      const { files, passedOver, otherFileCount, isComplete } = await folderFinding(path, nowMs);
      const isListed = !passedOver.some((passed) => passed.path === path && files.length === 0);
      const verdict = isListed ? verdictOf(files, isComplete) : "unreadable";
      return { schema: INSPECT_SCHEMA, path, target: "folder", verdict, files, passedOver, otherFileCount };
    }
  }
}

/** The worst of what was found; a folder without any session is none. */
function verdictOf(files: readonly FileFinding[], isComplete: boolean): Verdict {
  const found = new Set(files.map(({ verdict }) => verdict));
  if (found.has("damaged")) return "damaged";
  if (found.has("inconclusive") || !isComplete) return "inconclusive";
  if (found.has("unreadable")) return "unreadable";
  return found.has("whole") ? "whole" : "not_a_session";
}
