/**
 * What the parent and a child say to each other.
 *
 * Parent to child, on standard input: one line of JSON, a {@link Batch}; then the pipe stays open, and its end tells
 * the child that nobody is left to kill it. Child to parent, on descriptor {@link ANNOUNCE_DESCRIPTOR}: `ready` when the
 * program is loaded, `all` when every session has been noted. Standard output and error belong to the subject, and are
 * kept for reports.
 *
 * Each session is noted in a file, one line of JSON for each {@link Note}, in order: a note survives whatever becomes of
 * its child, and does not wake the parent, which on a machine of few cores would stop the child to listen.
 *
 * A folder of one session, made by the parent: the subject's disk is in `disk/`, the world's rows are in
 * `world.jsonl`. That is all that outlives the kill.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CutRef, Scenario } from "../faults/index.ts";

/** The child's end of the pipe for announcements. */
export const ANNOUNCE_DESCRIPTOR = 3;

/** One session to be killed at one cut. */
export interface KillRequest {
  /** The subject's id; the child finds it in its own registry. */
  readonly subject: string;
  readonly scenario: Scenario;
  readonly seed: number;
  readonly cut: CutRef;
  /** A folder of this session's own. It need not exist. */
  readonly folder: string;
}

/** What one child is asked to do. Scenarios are sent once, and named by their place. */
export interface Batch {
  readonly scenarios: readonly Scenario[];
  readonly sessions: readonly (Omit<KillRequest, "scenario"> & { readonly scenario: number })[];
  /** Where the child notes what became of each session. */
  readonly notesPath: string;
  /** Host milliseconds that one session may take to reach its boundary. */
  readonly walkLimitMs: number;
}

/** What a child says, in this order. */
export type Announcement = "ready" | "all";

/** What became of one session; `session` is its place in the batch. */
export type Note =
  /** It stands at its cut. */
  | { readonly kind: "parked"; readonly session: number }
  /** It did not get there. */
  | { readonly kind: "unreached"; readonly session: number; readonly doubt: Doubt };

/** Why nothing can be said about a kill. `signature` holds no ids, offsets or run names. */
export interface Doubt {
  readonly signature: string;
  readonly message: string;
}

/** Where a session's disk is. */
export function diskFolderOf(folder: string): string {
  return join(folder, "disk");
}

/** Where a session's world keeps its rows. */
export function ledgerPathOf(folder: string): string {
  return join(folder, "world.jsonl");
}

/** The batch of some requests. */
export function batchOf(
  requests: readonly KillRequest[],
  options: Pick<Batch, "notesPath" | "walkLimitMs">,
): Batch {
  const scenarios = [...new Set(requests.map((request) => request.scenario))];
  const sessions = requests.map((request) => ({ ...request, scenario: scenarios.indexOf(request.scenario) }));
  return { scenarios, sessions, ...options };
}

/** The notes in a file; a last one that its child did not finish is none. */
export function readNotes(path: string): readonly Note[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Note);
}
