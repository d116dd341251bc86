/**
 * What the parent and a child say to each other.
 *
 * Parent to child, on standard input: one line of JSON, a {@link Batch}; then the pipe stays open, and its end tells
 * the child that nobody is left to kill it. Child to parent, on descriptor {@link ANNOUNCE_DESCRIPTOR}: one line of
 * JSON for each {@link Announcement}. Standard output and error belong to the subject, and are kept for reports.
 *
 * A folder of one session, made by the parent: the subject's disk is in `disk/`, the world's rows are in
 * `world.jsonl`. That is all that outlives the kill.
 */
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
  /** Host milliseconds that one session may take to reach its boundary. */
  readonly walkLimitMs: number;
}

/** What a child says, in order: ready; each session, as `session` counts from 0; all. */
export type Announcement =
  /** The program is loaded and waits for a batch. */
  | { readonly kind: "ready" }
  /** The session stands at its cut. */
  | { readonly kind: "parked"; readonly session: number }
  /** The session did not get there. */
  | { readonly kind: "unreached"; readonly session: number; readonly doubt: Doubt }
  /** Every session was announced: time to die. */
  | { readonly kind: "all" };

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
export function batchOf(requests: readonly KillRequest[], walkLimitMs: number): Batch {
  const scenarios = [...new Set(requests.map((request) => request.scenario))];
  const sessions = requests.map((request) => ({ ...request, scenario: scenarios.indexOf(request.scenario) }));
  return { scenarios, sessions, walkLimitMs };
}
