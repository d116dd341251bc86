/** The space of damages of a disk: what its files' formats have, and bits that are flipped in them. */
import type { DiskFile } from "../../subject/index.ts";
import { type Damage, type DamageBudget, type DamageName, parseDamageName } from "./damage.ts";
import { damageOfDatabase, damagesOfDatabase } from "./database.ts";
import { flipOf, flipsOf } from "./flips.ts";
import { damageOfLines, damagesOfLines } from "./lines.ts";

/** The damages of the last commit, within a budget. */
export function damagesOf(files: readonly DiskFile[], budget: DamageBudget): Damage[] {
  return files.flatMap((file) => FORMATS[file.format.kind].damages(files, file, budget));
}

/** Flips in everything that was committed, within a budget for each file. */
export function flipsOfAll(files: readonly DiskFile[], budget: DamageBudget): Damage[] {
  return files.flatMap((file) => flipsOf(files, file, budget));
}

/** The damage of a name, or undefined if these files have none such. */
export function damageNamed(files: readonly DiskFile[], text: string): Damage | undefined {
  const name = parseDamageName(text);
  if (name === undefined) return undefined;
  for (const file of files) {
    const damage = flipOf(files, file, name) ?? FORMATS[file.format.kind].damage(files, file, name);
    if (damage !== undefined) return damage;
  }
  return undefined;
}

interface Format {
  damages(files: readonly DiskFile[], file: DiskFile, budget: DamageBudget): readonly Damage[];
  damage(files: readonly DiskFile[], file: DiskFile, name: DamageName): Damage | undefined;
}

const DATABASE: Format = { damages: damagesOfDatabase, damage: damageOfDatabase };
const FORMATS: Readonly<Record<DiskFile["format"]["kind"], Format>> = {
  lines: { damages: damagesOfLines, damage: damageOfLines },
  frames: DATABASE,
  pages: DATABASE,
};
