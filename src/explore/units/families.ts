/** The kinds of runs, in the order in which a result shows them. A new kind is a family here, and nothing elsewhere. */
import { assertRoom } from "../../subprocess/index.ts";
import type { ExploreHost, ExplorePlan, Progress } from "../plan.ts";
import type { GroupRecord } from "../tally.ts";
import type { Watchdog } from "../watchdog.ts";
import { crashes } from "./crashes.ts";
import { determinism } from "./determinism.ts";
import { diskFaults, leases, torn, worldFaults } from "./faults.ts";
import { fuzz } from "./fuzz.ts";
import { kills } from "./kills.ts";
import { races } from "./races.ts";
import { takeovers } from "./takeovers.ts";
import { Skips, type Unit, type UnitFamily, type UnitRecord } from "./unit.ts";

const FAMILIES: readonly UnitFamily[] = [
  crashes,
  takeovers,
  torn,
  diskFaults,
  worldFaults,
  determinism,
  races,
  fuzz,
  kills,
  leases,
];

/** The units of a plan. */
export function unitsOf(plan: ExplorePlan): readonly Unit[] {
  return FAMILIES.flatMap((family) => family.units(plan));
}

/** Explores one unit. */
export async function runUnit(
  plan: ExplorePlan,
  unit: Unit,
  host: ExploreHost,
  watchdog: Watchdog,
): Promise<UnitRecord> {
  const startMs = host.clock.now();
  const skips = new Skips(plan.skip);
  let last: Progress | undefined;
  assertRoom(host.folder);
  const told = (group: string) => {
    // Asked of each run before its record is kept: what a full disk did is no finding about the system.
    assertRoom(host.folder);
    last = { group, runCount: (last?.runCount ?? 0) + 1 };
    host.progress?.(last);
  };
  const finding = await unit.run({ host, watchdog, skips, told });
  if (last !== undefined) host.progress?.({ ...last, isOver: true });
  return { id: unit.id, ...finding, skipsReached: skips.reached, elapsedMs: host.clock.now() - startMs };
}

/** The groups of a result, from the records of a plan's units, by name; units without a record are left out. */
export function groupsOf(plan: ExplorePlan, records: ReadonlyMap<string, UnitRecord>): GroupRecord[] {
  return FAMILIES.flatMap((family) => {
    const own = family.units(plan).flatMap(({ id }) => records.get(id) ?? []);
    const groups = own.flatMap((record) => record.groups);
    return [...(family.merged?.(groups) ?? groups), ...(family.together?.(plan, own) ?? [])];
  });
}
