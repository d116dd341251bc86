/**
 * Simulated deaths: what should be on the disk and in the world when a run dies at a cut, kept small until a real
 * process has died there.
 *
 * A crash exploration comes by every one of them anyway (`DeathCollector` listens to it); `simulateDeaths` makes those
 * that are wanted alone, with one walk.
 */
import { createHash } from "node:crypto";
import { type CutRef, refOf, World, type WorldRow } from "../../faults/index.ts";
import { canonicalJson, VirtualClock } from "../../foundation/index.ts";
import type { View } from "../../subject/index.ts";
import type { CrashSink } from "../crash/crash.ts";
import { walk } from "../crash/walk.ts";
import { firstStanding, type RunContext, viewOf } from "../standing.ts";

/** What a simulated death at a cut leaves. */
export interface SimulatedDeath {
  readonly cut: CutRef;
  /** Of the exact view. */
  readonly digest: string;
  /** The world's rows, see {@link rowsText}. */
  readonly rows: string;
}

/** Collects the first deaths of the runs of a crash exploration. `dying` is its sink's. */
export class DeathCollector {
  readonly deaths: SimulatedDeath[] = [];

  readonly dying: NonNullable<CrashSink["dying"]> = async (path, standing, atCut) => {
    const [cut] = path;
    // Only the first death of a run is died for real: the second would need a real recovery before it.
    if (cut === undefined || path.length > 1) return;
    this.deaths.push(deathOf(cut, await atCut(), standing.world.rows));
  };
}

/** The deaths at the wanted cuts. `died` gets each with the whole view. */
export async function simulateDeaths(
  context: RunContext,
  wants: (cut: CutRef) => boolean,
  died: (death: SimulatedDeath, view: View) => void = () => undefined,
): Promise<SimulatedDeath[]> {
  const deaths: SimulatedDeath[] = [];
  const start = await firstStanding(context, new World(context.scenario, new VirtualClock()));
  await walk(context, start, {
    seen: () => undefined,
    wants: (cut) => wants(refOf(cut)),
    enough: () => false,
    visit: async ({ cut, left }) => {
      const view = await viewOf(context, left);
      const death = deathOf(refOf(cut), view, left.world.rows);
      deaths.push(death);
      died(death, view);
    },
  });
  start.disk.dispose();
  return deaths;
}

/** A stand-in for an exact view. */
export function digestOfExact({ exact }: View): string {
  return createHash("sha256").update(exact).digest("base64");
}

/** The rows of a world as text: canonical JSON, one a line. */
export function rowsText(rows: readonly WorldRow[]): string {
  return rows.map((row) => canonicalJson({ ...row })).join("\n");
}

function deathOf(cut: CutRef, view: View, rows: readonly WorldRow[]): SimulatedDeath {
  return { cut, digest: digestOfExact(view), rows: rowsText(rows) };
}
