/**
 * Flipped bits in what was committed: one bit of one byte.
 *
 * A change must be noticed, and the file refused, or be of no meaning, and the session complete. Where the format has
 * nothing that would notice it, it does not promise to: a letter of a message becomes another one, and a number another
 * number. Such a flip is counted as unpromised.
 */
import { seededRandom } from "../../foundation/index.ts";
import type { DiskFile } from "../../subject/index.ts";
import { type Damage, type DamageBudget, type DamageName, damageName, replaced } from "./damage.ts";

const FLIP = "flip";

/** What the formats let pass. */
const UNNOTICED: Readonly<Record<DiskFile["format"]["kind"], string>> = {
  lines: "changed bytes that leave valid commits pass unnoticed: the format has no checksum of them",
  pages: "changed bytes that leave a valid database pass unnoticed: SQLite keeps no checksum of its pages",
  frames:
    "a frame whose checksum does not fit ends the log, as a torn transaction does: the commits from there on are gone without a word",
};

/** Flips within a budget: in every byte, of a bit that the seed chooses; or in as many as the budget says. */
export function flipsOf(files: readonly DiskFile[], file: DiskFile, { flips, seed }: DamageBudget): Damage[] {
  const { length } = file.bytes;
  const random = seededRandom(seed, "flip", file.name, length);
  const offsets =
    flips === "every" || flips >= length
      ? Array.from({ length }, (_, offset) => offset)
      : [...new Set(Array.from({ length: flips }, () => random.nextInt(length)))].sort((a, b) => a - b);
  return offsets.map((at) => flipped(files, file, { kind: kindOf(file), at, bit: random.nextInt(8) }));
}

/** The flip of a name; undefined if it is none of this file. */
export function flipOf(files: readonly DiskFile[], file: DiskFile, name: DamageName): Damage | undefined {
  if (name.kind !== kindOf(file) || name.at === undefined || name.bit === undefined) return undefined;
  return name.at < file.bytes.length ? flipped(files, file, name) : undefined;
}

/** The only file of a disk needs no name. */
function kindOf({ name, format }: DiskFile): string {
  return format.kind === "lines" ? FLIP : `${FLIP}-${name}`;
}

function flipped(files: readonly DiskFile[], file: DiskFile, name: DamageName): Damage {
  const { at = 0, bit = 0 } = name;
  return {
    name: damageName(name),
    kind: name.kind,
    allows: ["refused", "complete"],
    ...(file.noticesChanges ? {} : { unpromised: UNNOTICED[file.format.kind] }),
    contents: () => {
      const bytes = Buffer.from(file.bytes);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      return replaced(files, file.name, bytes);
    },
  };
}
