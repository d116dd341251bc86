/**
 * `inspectPath`: what stands at a path, as an `Inspection`. It reads and writes nothing, waits for nobody, and answers for
 * every path: what cannot be read is a finding too.
 */

import { inspectTxlog } from "../txlog/index.ts";
import { fileFinding } from "./file.ts";
import { type FileFinding, INSPECT_SCHEMA, type Inspection, type Verdict } from "./finding.ts";
import { folderFinding } from "./folder.ts";
import { bytesOfOneMoment, lookAt } from "./open-file.ts";

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
      const file = await fileFinding(path, found.byteLength, nowMs);
      const head = { schema: INSPECT_SCHEMA, path, target: "file", verdict: file.verdict } as const;
      return { ...head, files: [file], ...txlogOf(path, file) };
    }
    case "folder": {
      const { files, passedOver, otherFileCount, isComplete } = await folderFinding(path, nowMs);
      const isListed = !passedOver.some((passed) => passed.path === path && files.length === 0);
      const verdict = isListed ? verdictOf(files, isComplete) : "unreadable";
      return { schema: INSPECT_SCHEMA, path, target: "folder", verdict, files, passedOver, otherFileCount };
    }
  }
}

/** The complete state or refusal of a transactional session, for programs: the finding names only what people need. */
function txlogOf(path: string, { kind, verdict }: FileFinding): Pick<Inspection, "txlog"> {
  // Headers of old versions of both kinds begin alike, so a legacy file may be meant for this reader too.
  const isMeant = kind === "transactional_session" || kind === "legacy_session";
  if (!isMeant || verdict === "inconclusive") return {};
  const bytes = bytesOfOneMoment(path);
  return bytes === undefined ? {} : { txlog: inspectTxlog(bytes) };
}

/** The worst of what was found; a folder without any session is none. */
function verdictOf(files: readonly FileFinding[], isComplete: boolean): Verdict {
  const found = new Set(files.map(({ verdict }) => verdict));
  if (found.has("damaged")) return "damaged";
  if (found.has("inconclusive") || !isComplete) return "inconclusive";
  if (found.has("unreadable")) return "unreadable";
  return found.has("whole") ? "whole" : "not_a_session";
}
