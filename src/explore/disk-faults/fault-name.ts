/**
 * A fault of a medium by its name: in which life, of which kind, at which call, and whether all calls after it fail too.
 *
 * `first.write-eio@3`, `next.write-eio+lasting@1`.
 */
import type { FaultyLife } from "../../faults/index.ts";

/** See the module header. */
export interface FaultName {
  readonly life: FaultyLife;
  readonly kind: string;
  readonly isLasting: boolean;
  /** From 1. */
  readonly call: number;
}

/** The text of a name. */
export function faultName({ life, kind, isLasting, call }: FaultName): string {
  return `${life}.${kind}${isLasting ? "+lasting" : ""}@${call}`;
}

/** Reads a name. */
export function parseFaultName(text: string): FaultName | undefined {
  const match = /^(first|next|upkeep)\.([a-z]+(?:-[a-z]+)*)(\+lasting)?@([1-9]\d*)$/.exec(text);
  if (match === null) return undefined;
  const [, life, kind = "", lasting, call] = match;
  return { life: life as FaultyLife, kind, isLasting: lasting !== undefined, call: Number(call) };
}
