/**
 * The storage suite: the contract of `src/storage/contract.ts`, as cases (spec §9.3, backend conformance).
 *
 * One file a group; a group's clauses read as the list of what is promised there. `factory.ts` is what a backend
 * author writes, `trial.ts` what a clause works with, `reference.ts` what is expected.
 *
 * Not checked here. Contract 6 (the cost of a commit) needs a bench, not a suite. That a timestamp is held over a
 * reopening is checked for transactions with entries; others leave no timestamp that could be read back. Two
 * processes on one session, power loss and query plans are checked by the backends that promise something there.
 */
import type { ConformanceCase } from "../case.ts";
import { atomicity } from "./atomicity.ts";
import { branchScans } from "./branch-scans.ts";
import { type ClauseGroup, toCases } from "./clause.ts";
import { closing } from "./closing.ts";
import type { StorageFactory } from "./factory.ts";
import { failing } from "./failing.ts";
import { ids } from "./ids.ts";
import { isolation } from "./isolation.ts";
import { listings } from "./listings.ts";
import { order } from "./order.ts";
import { queue } from "./queue.ts";
import { registers } from "./registers.ts";
import { reopening } from "./reopening.ts";
import { stats } from "./stats.ts";
import { values } from "./values.ts";

const GROUPS: readonly ClauseGroup[] = [
  order,
  atomicity,
  ids,
  registers,
  values,
  branchScans,
  listings,
  isolation,
  queue,
  stats,
  closing,
  reopening,
  failing,
];

/** All cases of the storage contract for one backend, skipped ones included. Makes no store yet. */
export function createStorageConformance(factory: StorageFactory): ConformanceCase[] {
  return GROUPS.flatMap((group) => toCases(group, factory));
}

export type {
  StorageCapabilities,
  StorageFactory,
  StorageFactoryOptions,
  StorageHandle,
  TornCommit,
} from "./factory.ts";
