/**
 * Damage: what can happen to the bytes that commits left, and what may be found afterwards.
 *
 * Terms. *Reading*: what is found in damaged bytes. The session as it was before the last commit (`previous`), as it
 * was after it (`complete`), or nothing, with a reason (`refused`). There is no other that is right.
 *
 * Invariants.
 * 1. A damage has a name from which it can be made again: `cut@117`, `zeros@0`, `doubled`, `flip@2048.3`. The number is
 *    a place in bytes, counted as its kind says; the digit behind the dot is a bit.
 * 2. Damage is a function of the undamaged bytes and of its name.
 */
import type { DiskFile } from "../../subject/index.ts";

/** See the module header. */
export type Reading = "previous" | "complete" | "refused";

/** The files of a disk by name. */
export type Contents = ReadonlyMap<string, Uint8Array>;

/** One damage, ready to be done. */
export interface Damage {
  /** See invariant 1. */
  readonly name: string;
  /** Without its place. */
  readonly kind: string;
  /** The readings that are right. */
  readonly allows: readonly Reading[];
  /**
   * Set where the format does not promise that the damage is noticed: what may be found there beside `allows`, in
   * words. It is counted apart, neither as right nor as wrong.
   */
  readonly unpromised?: string;
  /** The files with the damage done. */
  contents(): Contents;
}

/** A damage by its name, taken apart. */
export interface DamageName {
  readonly kind: string;
  readonly at: number | undefined;
  readonly bit: number | undefined;
}

/** Reads `kind`, `kind@at` or `kind@at.bit`. */
export function parseDamageName(name: string): DamageName | undefined {
  const match = /^([a-z]+(?:-[a-z]+)*)(?:@(\d+)(?:\.([0-7]))?)?$/.exec(name);
  if (match === null) return undefined;
  const [, kind = "", at, bit] = match;
  return {
    kind,
    at: at === undefined ? undefined : Number(at),
    bit: bit === undefined ? undefined : Number(bit),
  };
}

/** The name of a damage. */
export function damageName({ kind, at, bit }: DamageName): string {
  return `${kind}${at === undefined ? "" : `@${at}`}${bit === undefined ? "" : `.${bit}`}`;
}

/** The contents of files, one of them replaced; undefined takes it away. */
export function replaced(files: readonly DiskFile[], name: string, bytes: Uint8Array | undefined): Contents {
  const contents = new Map(files.map((file) => [file.name, file.bytes]));
  if (bytes === undefined) contents.delete(name);
  else contents.set(name, bytes);
  return contents;
}

/** How much of a space of damages is looked at. */
export interface DamageBudget {
  /** Places of each kind at which a commit is damaged: all of them, or at most so many. */
  readonly places: "every" | number;
  /** Bytes of which one bit is flipped: every byte, or so many. */
  readonly flips: "every" | number;
  readonly seed: number;
}
