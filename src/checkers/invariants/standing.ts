/**
 * What a session that was found on a disk breaks of the numbered invariants (spec §9.1), told from what it holds alone.
 *
 * The invariants of a step (who may move a leaf, what a terminal transaction writes) need the history that a stored
 * session does not have. What every commit must leave behind needs none: the session is looked at as if one transaction
 * had written all of it. What a step is refused for by the store (an id twice, a parent that is not there) is looked at
 * here by itself, because nobody refuses what an editor or a broken disk wrote.
 */
import {
  type CustomMessageSchemas,
  type ShapeIssue,
  validateEntry,
  validateRegister,
  validateUsageRow,
  type Write,
} from "../../model/index.ts";
import type { SessionDump } from "../../storage/index.ts";
import { ownedPendingIds } from "../rows/site.ts";
import { StoreModel } from "../store-model.ts";
import { INVARIANTS } from "./index.ts";

/** An invariant that does not hold in a stored session. */
export interface BrokenInvariant {
  readonly number: number;
  readonly message: string;
}

type Breaks = (number: number, message: string) => void;

/**
 * The invariants that a stored session breaks. If it holds a value of no known shape, only that is said: what refers to
 * the value cannot be judged. `customMessageSchemas` has the message roles of the application that wrote it.
 */
export function brokenInvariants(
  dump: SessionDump,
  customMessageSchemas: CustomMessageSchemas = {},
): BrokenInvariant[] {
  const broken: BrokenInvariant[] = [];
  const breaks: Breaks = (number, message) => broken.push({ number, message });
  checkShapes(dump, customMessageSchemas, breaks);
  if (broken.length > 0) return broken;
  const model = StoreModel.of(dump);
  checkRows(dump, breaks);
  checkOwners(model, breaks);
  const writes = writesOf(dump);
  for (const { number, says, after } of INVARIANTS) {
    after?.check({ writes }, model, (how, message) => breaks(number, `${how}: ${message} (${says})`));
  }
  return broken;
}

/** Invariants 3 and 7, and that a usage row is one. */
function checkShapes(
  { entries, registers, usage }: SessionDump,
  schemas: CustomMessageSchemas,
  breaks: Breaks,
): void {
  const check = (number: number, name: string, issue: ShapeIssue | undefined) => {
    if (issue === undefined) return;
    const { path, expected, found } = issue;
    breaks(number, `${name} at ${path === "" ? "its root" : path}: expected ${expected}, found ${found}`);
  };
  for (const entry of entries) check(7, `entry ${entry.id}`, validateEntry(entry, schemas));
  for (const row of usage) check(1, `usage row ${row.id}`, validateUsageRow(row));
  for (const { namespace, key, value } of registers) {
    check(3, `${namespace}/${key}`, validateRegister(namespace, value, schemas));
  }
}

function writesOf({ entries, registers, usage }: SessionDump): Write[] {
  return [
    ...entries.map(({ seq: _seq, timestamp: _timestamp, ...entry }) => ({ kind: "entry", entry }) as Write),
    ...usage.map(({ seq: _seq, ...row }) => ({ kind: "usage", row }) as Write),
    // Pairs of namespace and value as they are stored, and held against each other.
    ...registers.map(
      ({ namespace, key, value }) => ({ kind: "register", op: "set", namespace, key, value }) as Write,
    ),
  ];
}

/** Invariants 1, 2 and 11 over rows that are in order of their seqs. */
function checkRows({ entries, registers, usage }: SessionDump, breaks: Breaks): void {
  const seqs = new Set<number>();
  for (const { seq } of [...entries, ...registers, ...usage]) {
    if (seqs.has(seq)) breaks(2, `seq ${seq} stands on two rows`);
    seqs.add(seq);
  }
  const ids = new Set<string>();
  for (const { id, parentId } of entries) {
    if (parentId !== null && !ids.has(parentId)) {
      breaks(11, `entry ${id} hangs below ${parentId}, which does not stand before it`);
    }
    ids.add(id);
  }
  for (const { id } of usage) if (ids.has(id)) breaks(1, `id ${id} is that of an entry and of a usage row`);
}

/** Invariant 13: what waits for its place is listed by an open operation or by a lane. */
function checkOwners(model: StoreModel, breaks: Breaks): void {
  const owned = new Set<string>();
  for (const { value } of model.registers("op.state")) for (const id of ownedPendingIds(value)) owned.add(id);
  for (const { value } of model.registers("lane.state")) for (const id of value.pendingNextRun) owned.add(id);
  for (const { key } of model.registers("pending.entry")) {
    if (owned.has(key)) continue;
    breaks(
      13,
      `pending.entry/${key} is listed by no lane and by no operation, so nobody will place or delete it`,
    );
  }
}
