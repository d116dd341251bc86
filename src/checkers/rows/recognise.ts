/**
 * Row conformance: which row of the specification's tables a transaction is.
 *
 * Checks: every transaction conforms to exactly one row of the catalogue: its writes, their order, the state before
 * and after. Does not check: timing (`notBefore`, message times), the wording of messages, and what the world did;
 * other checkers do.
 */
import { type OperationState, validateWrites, type Write } from "../../model/index.ts";
import type { StoreModel } from "../store-model.ts";
import { type FormSet, formSetOf, formsIn } from "../write-form.ts";
import { CATALOGUE } from "./catalogue.ts";
import { isCancelled, isRunning } from "./facts.ts";
import { OUTSIDE_ROWS } from "./outside.ts";
import type { PhaseName } from "./phase.ts";
import { type Cursor, describeWrite, type Row, SAME_PHASE } from "./row.ts";
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
  for (const row of likelyOf(site)) {
    if (!conforms(row, site)) continue;
    if (match !== undefined) return mismatch(site);
    match = row;
  }
  return match === undefined ? mismatch(site) : { ok: true, name: match.name, row: match, site };
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

/** The rows that lead from the one phase to the other. */
function candidatesOf({ from, to, model }: Site): readonly Row[] {
  const rows = to === "gone" && model.isOutsiderAtWork ? [...CATALOGUE, ...OUTSIDE_ROWS] : CATALOGUE;
  return rows.filter((row) => row.from.includes(from) && phasesAfter(row, from).includes(to));
}

function phasesAfter({ to }: Row, from: PhaseName): readonly PhaseName[] {
  return to === SAME_PHASE ? [from] : to;
}

/** The candidates but for those that cannot conform: by the forms of the writes, and by the control before. */
function likelyOf(site: Site): readonly Row[] {
  const { from, to, model, before, writes } = site;
  if (model.isOutsiderAtWork) return candidatesOf(site);
  const forms = formsIn(writes);
  const control = before?.control.status ?? "none";
  const known = likely[control].get(from)?.get(to)?.get(forms);
  if (known !== undefined) return known;
  const rows = candidatesOf(site).filter((row) => mayTake(forms, row) && mayBeUnder(control, row));
  const byTo = within(likely[control], from, () => new Map<PhaseName, Map<FormSet, readonly Row[]>>());
  within(byTo, to, () => new Map<FormSet, readonly Row[]>()).set(forms, rows);
  return rows;
}

/** Of an operation before the transaction, if there is one. */
type Control = OperationState["control"]["status"] | "none";

type ByPhasesAndForms = Map<PhaseName, Map<PhaseName, Map<FormSet, readonly Row[]>>>;

/** Transactions that a runtime makes are of few kinds; those that a broken one makes are as many as its defects. */
const likely: Readonly<Record<Control, ByPhasesAndForms>> = {
  none: new Map(),
  running: new Map(),
  cancel_requested: new Map(),
};

function within<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Whether the steps of a row take nothing but these forms, and each of them that it must take. */
function mayTake(forms: FormSet, { writes }: Row): boolean {
  let taken = 0;
  for (const step of writes) {
    const own = formSetOf(step.forms);
    if (!step.mayTakeNone && (forms & own) === 0) return false;
    taken |= own;
  }
  return (forms & ~taken) === 0;
}

/** Whether the facts of a row allow a control before the transaction; what they say beside that is for the site. */
function mayBeUnder(control: Control, { holds }: Row): boolean {
  if (holds.includes(isRunning) && control !== "running") return false;
  return !holds.includes(isCancelled) || control === "cancel_requested";
}

function mismatch(site: Site): RowMismatch {
  const candidates = candidatesOf(site);
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
