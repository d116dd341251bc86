/**
 * Simulated deaths: what should be on the disk and in the world when a run dies at a cut, kept small until a real
 * process has died there. One walk makes all that are wanted.
 */
import { createHash } from "node:crypto";
import { type CutRef, refOf, type WorldRow } from "../../faults/index.ts";
import { canonicalJson } from "../../foundation/index.ts";
import type { View } from "../../subject/index.ts";
import { walkUncut } from "../crash/walk.ts";
import { readable, unlessUnreadable } from "../readable.ts";
import type { RunContext } from "../standing.ts";

/** What a simulated death at a cut leaves. */
export interface SimulatedDeath {
  readonly cut: CutRef;
  /** Of the exact view. */
  readonly digest: string;
  /** The world's rows, see {@link rowsText}. */
  readonly rows: string;
}

/** Every place where the run that nobody cuts can die. */
export async function cutsOf(context: RunContext): Promise<CutRef[]> {
  const cuts: CutRef[] = [];
  await walkUncut(context, {
    seen: (cut) => cuts.push(refOf(cut)),
    wants: () => false,
    visit: async () => undefined,
  });
  return cuts;
}

/** The deaths at the wanted cuts. `died` gets each with the whole view. */
export async function simulateDeaths(
  context: RunContext,
  wants: (cut: CutRef) => boolean,
  died: (death: SimulatedDeath, view: View) => void = () => undefined,
): Promise<SimulatedDeath[]> {
  const deaths: SimulatedDeath[] = [];
  await walkUncut(context, {
    seen: () => undefined,
    wants: (cut) => wants(refOf(cut)),
    visit: async ({ cut, left }) => {
      const view = await unlessUnreadable(() => readable(context, left));
      // What cannot be read is found where deaths are judged; there is nothing to hold a real one against.
      if (view === undefined) return;
      const death = deathOf(refOf(cut), view, left.world.rows);
      deaths.push(death);
      died(death, view);
    },
  });
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
