/**
 * Forks: what a new session takes over from a snapshot of another (spec §2.7). A pure function of the snapshot, so a
 * fork is the same whatever store the source and the target are in.
 *
 * Copied: the chosen entries, with their ids, seqs and times; the name and the custom facts; labels whose entry is
 * copied; the configuration of the lanes that are made. Never copied: operations, queued content, results of earlier
 * operations, and the ledger, which starts at zero. What an entry shows of its usage stays on the entry.
 *
 * The lanes of the target are idle: their leaves and states are written anew, behind everything that was copied.
 */
import { Corruption } from "../foundation/index.ts";
import type { Entry, Register } from "../model/index.ts";
import type { SessionContents } from "../storage/index.ts";
import { idleLanes, type LaneLeaf, MAIN_LANE } from "./lane.ts";
import { laneRegisterMissing } from "./lanes.ts";

/** What is forked: the path to one entry, as a new `main`; or the whole tree with all its lanes. */
export type ForkOptions =
  | {
      readonly scope?: "branch";
      /** Default: the leaf of `main`. */
      readonly entryId?: string;
      /** Whether the entry itself is part of the fork, or its parent the last one. Default `at`. */
      readonly position?: "before" | "at";
    }
  | { readonly scope: "tree" };

/** The entry to fork at is not in the source. Nothing was made. */
export class UnknownForkPoint extends Error {
  override readonly name = "UnknownForkPoint";
  readonly code = "UNKNOWN_FORK_POINT";
  readonly entryId: string;

  constructor(entryId: string) {
    super(`no entry ${entryId} in the session to fork; name one of its entries; nothing was made`);
    this.entryId = entryId;
  }
}

/** What the fork of a snapshot starts with. @throws UnknownForkPoint; Corruption for a parent that is missing */
export function forkContents(source: SessionContents, options: ForkOptions): SessionContents {
  return options.scope === "tree" ? treeFork(source) : branchFork(source, options);
}

function treeFork({ entries, registers }: SessionContents): SessionContents {
  const kept = registers.filter(({ namespace }) => isFactOrConfiguration(namespace));
  const leaves = leavesOf(registers);
  return contentsOf(entries, kept, leaves);
}

function branchFork(
  { entries, registers }: SessionContents,
  { entryId, position = "at" }: Exclude<ForkOptions, { scope: "tree" }>,
): SessionContents {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const point = entryId ?? mainLeafOf(registers);
  const pointEntry = point === null ? undefined : byId.get(point);
  if (point !== null && pointEntry === undefined) throw new UnknownForkPoint(point);
  const leafId = position === "at" ? point : (pointEntry?.parentId ?? null);
  const path = pathTo(leafId, byId);
  const kept = registers.filter(({ namespace, key }) => {
    if (namespace === "fact.label") return path.has(key);
    if (namespace === "lane.config") return key === MAIN_LANE;
    return isFactOrConfiguration(namespace);
  });
  return contentsOf(
    entries.filter(({ id }) => path.has(id)),
    kept,
    [[MAIN_LANE, leafId]],
  );
}

function contentsOf(
  entries: readonly Entry[],
  copied: readonly Register[],
  leaves: readonly LaneLeaf[],
): SessionContents {
  const lanes = idleLanes([...entries, ...copied], leaves);
  return { entries, registers: [...copied, ...lanes], usage: [] };
}

/** The lanes of a snapshot with their leaves, `main` first and the others by name. */
export function leavesOf(registers: readonly Register[]): LaneLeaf[] {
  const leaves = registers
    .filter((register): register is Register<"lane.leaf"> => register.namespace === "lane.leaf")
    .map(({ key, value }) => [key, value] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  const main = leaves.find(([lane]) => lane === MAIN_LANE);
  if (main === undefined) throw laneRegisterMissing("lane.leaf", MAIN_LANE);
  return [main, ...leaves.filter((lane) => lane !== main)];
}

function mainLeafOf(registers: readonly Register[]): string | null {
  return leavesOf(registers)[0]?.[1] ?? null;
}

function pathTo(leafId: string | null, byId: ReadonlyMap<string, Entry>): Set<string> {
  const path = new Set<string>();
  for (let id = leafId; id !== null; ) {
    const entry = byId.get(id);
    if (entry === undefined) {
      throw new Corruption("missing_parent", `the entry ${id} does not exist, and others stand on it`, {
        subject: `entry/${id}`,
      });
    }
    path.add(id);
    id = entry.parentId;
  }
  return path;
}

function isFactOrConfiguration(namespace: Register["namespace"]): boolean {
  return namespace.startsWith("fact.") || namespace === "lane.config";
}
