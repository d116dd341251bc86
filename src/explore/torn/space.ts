/** The space of damages of a disk: what its files' formats have, and bits that are flipped in them. */
import type { DiskFile } from "../../subject/index.ts";
import { type Damage, type DamageBudget, type DamageName, parseDamageName } from "./damage.ts";
import { flipOf, flipsOf } from "./flips.ts";
import { damageOfLines, damagesOfLines } from "./lines.ts";

/** The damages of the last commit, within a budget. */
export function damagesOf(files: readonly DiskFile[], budget: DamageBudget): Damage[] {
  return files.flatMap((file) => (file.format.kind === "lines" ? damagesOfLines(files, file, budget) : []));
}

/** Flips in everything that was committed, within a budget for each file. */
export function flipsOfAll(files: readonly DiskFile[], budget: DamageBudget): Damage[] {
  return files.flatMap((file) => flipsOf(files, file, budget));
}

/** The damage of a name, or undefined if these files have none such. */
export function damageNamed(files: readonly DiskFile[], text: string): Damage | undefined {
  const name: DamageName | undefined = parseDamageName(text);
  if (name === undefined) return undefined;
  for (const file of files) {
    const damage =
      flipOf(files, file, name) ??
      (file.format.kind === "lines" ? damageOfLines(files, file, name) : undefined);
    if (damage !== undefined) return damage;
  }
  return undefined;
}
