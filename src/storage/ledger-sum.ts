/**
 * The sum of the ledger has to stay a number: an infinite one could be neither stored nor read back, and no later
 * adjustment would bring it down again (spec §1.6).
 */
import { addUsage, type Usage, type Write } from "../model/index.ts";
import { InvalidTransaction } from "./contract.ts";

/** Whether every amount of a sum is a number that JSON can carry. */
export function isFiniteSum({ cost, ...tokens }: Usage): boolean {
  return Object.values(tokens).every(Number.isFinite) && Object.values(cost).every(Number.isFinite);
}

/** The sum with one more row. @throws InvalidTransaction `malformed` */
export function sumWith(before: Usage, amounts: Usage, writeIndex: number): Usage {
  const sum = addUsage(before, amounts);
  if (isFiniteSum(sum)) return sum;
  const message = "the sum of the ledger exceeds what a number holds";
  throw new InvalidTransaction("malformed", message, writeIndex);
}

/** Holds the usage rows of admitted writes against the sum of what is stored. @throws as `sumWith` */
export function checkLedgerSum(writes: readonly Write[], stored: Usage): void {
  let sum = stored;
  for (let index = 0; index < writes.length; index++) {
    const write = writes[index];
    if (write?.kind === "usage") sum = sumWith(sum, write.row.usage, index);
  }
}
