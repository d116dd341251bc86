/**
 * Row conformance: which row of the specification's tables a transaction is.
 *
 * Checks: every transaction conforms to exactly one row of the catalogue: its writes, their order, the state before
 * and after. Does not check: timing (`notBefore`, message times), the wording of messages, and what the world did;
 * other checkers do.
 */
import { validateWrites, type Write } from "../../model/index.ts";
import type { StoreModel } from "../store-model.ts";
import { CATALOGUE } from "./catalogue.ts";
import { OUTSIDE_ROWS } from "./outside.ts";
import type { PhaseName } from "./phase.ts";
import { type Cursor, describeWrite, type Row } from "./row.ts";
import { type Site, siteOf } from "./site.ts";

/** The label of a commit that no row explains. */
export const UNRECOGNISED = "commit.unrecognised";

/** The transaction is this row. */
export interface RowMatch {
  readonly ok: true;
  readonly name: string;
  readonly row: Row;
  readonly site: Site;
}

/** The transaction is no row, or more than one. */
export interface RowMismatch {
  readonly ok: false;
  readonly site: Site;
  /** Stable over runs: the phases and the kinds of writes, no ids. */
  readonly signature: string;
  /** What each candidate row wanted and what was found, for a reader. */
  readonly message: string;
}

/** Says which row a transaction is, given the session before it. Its writes are of known shapes (`validateWrites`). */
export function recognise(writes: readonly Write[], model: StoreModel): RowMatch | RowMismatch {
  const site = siteOf(writes, model);
  let match: Row | undefined;
  for (const row of candidatesOf(site, model)) {
    if (!conforms(row, site)) continue;
    if (match !== undefined) return mismatch(site, model);
    match = row;
  }
  return match === undefined ? mismatch(site, model) : { ok: true, name: match.name, row: match, site };
}

/** The label of a transaction that is about to be committed. */
export function labelOf(writes: readonly Write[], model: StoreModel): string {
  if (validateWrites(writes) !== undefined) return UNRECOGNISED;
  const found = recognise(writes, model);
  return found.ok ? found.name : UNRECOGNISED;
}

/** Why a transaction is not this row; undefined if it is. */
export function complaintOf(row: Row, site: Site): string | undefined {
  const cursor = cursorAt(site);
  for (const step of row.writes) {
    const found = step.take(cursor);
    if (found !== undefined) return `write ${cursor.at} should be "${step.says}", found ${found}`;
  }
  if (cursor.at < site.writes.length) {
    return `write ${cursor.at} is foreign to the row: ${describeWrite(site.writes[cursor.at])}`;
  }
  const broken = row.holds.find((fact) => !fact.holds(site));
  return broken === undefined ? undefined : `not true: ${broken.says}`;
}

/** Whether `complaintOf` has no complaint, without wording one: this is asked of every candidate of every commit. */
function conforms(row: Row, site: Site): boolean {
  const cursor = cursorAt(site);
  for (const step of row.writes) if (step.take(cursor) !== undefined) return false;
  if (cursor.at !== site.writes.length) return false;
  for (const fact of row.holds) if (!fact.holds(site)) return false;
  return true;
}

function cursorAt(site: Site): Cursor {
  return { site, at: 0, tip: site.leaf, newest: undefined };
}

function candidatesOf({ from, to }: Site, model: StoreModel): readonly Row[] {
  const known = rowsByPhases.get(from)?.get(to) ?? NO_ROWS;
  if (!model.isOutsiderAtWork || to !== "gone") return known;
  return [...known, ...OUTSIDE_ROWS.filter((row) => row.from.includes(from))];
}

const NO_ROWS: readonly Row[] = [];

/** Rows by the phase before and the phase after. */
const rowsByPhases = new Map<PhaseName, Map<PhaseName, Row[]>>();
for (const row of CATALOGUE) {
  for (const from of row.from) {
    const rows = rowsByPhases.get(from) ?? new Map<PhaseName, Row[]>();
    rowsByPhases.set(from, rows);
    for (const to of row.to) rows.set(to, [...(rows.get(to) ?? []), row]);
  }
}

function mismatch(site: Site, model: StoreModel): RowMismatch {
  const candidates = candidatesOf(site, model);
  const matches = candidates.filter((row) => conforms(row, site));
  const shape = site.writes.map(describeWrite).join(", ");
  const where = `${site.from} → ${site.to}`;
  if (matches.length > 1) {
    const names = matches.map((row) => row.name).join(" and ");
    return {
      ok: false,
      site,
      signature: `row: ambiguous: ${names}`,
      message: `one transaction is ${names} at once (${where}; ${shape})`,
    };
  }
  const complaints = candidates.map((row) => `${row.name}: ${complaintOf(row, site)}`);
  const reasons =
    complaints.length > 0 ? complaints.join("; ") : "no row leads from the one phase to the other";
  return {
    ok: false,
    site,
    signature: `row: unknown: ${where}: ${shape}`,
    message: `no row explains the transaction ${where} with [${shape}]: ${reasons}`,
  };
}
