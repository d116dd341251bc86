/**
 * A cell: one stored row, frozen at the latest when it is first read.
 *
 * Rows that were committed in this process are frozen already. Rows that were decoded from a file are known to the
 * store alone until someone asks for them, and most of a long session is never asked for, so freezing them is put
 * off: opening a session then costs little more than parsing it.
 */

/** A row, and whether it is deeply frozen yet. */
export interface Cell<Row extends object> {
  readonly row: Row;
  isFrozen: boolean;
}

/** The row of a cell, deeply frozen. */
export function rowOf<Row extends object>(cell: Cell<Row>): Row {
  if (!cell.isFrozen) {
    deepFreeze(cell.row);
    cell.isFrozen = true;
  }
  return cell.row;
}

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  if (Array.isArray(value)) {
    for (const item of value) deepFreeze(item);
    return;
  }
  for (const key in value) deepFreeze((value as Record<string, unknown>)[key]);
}
