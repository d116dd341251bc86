/**
 * Forms of writes: what a write is, without its contents. Whoever looks at transactions is asked about those whose forms
 * concern it, and about no other.
 *
 * A set of forms is a number with one bit for each, so that a transaction is sorted by its forms at the cost of its writes.
 */
import { REGISTER_NAMESPACES, type RegisterNamespace, type Write } from "../model/index.ts";

export type WriteForm = "entry" | "usage" | `${"set" | "delete"} ${RegisterNamespace}`;

/** See the header; bit 0 is the first of `WRITE_FORMS`. */
export type FormSet = number;

export const WRITE_FORMS: readonly WriteForm[] = [
  "entry",
  "usage",
  ...REGISTER_NAMESPACES.map((namespace): WriteForm => `set ${namespace}`),
  ...REGISTER_NAMESPACES.map((namespace): WriteForm => `delete ${namespace}`),
];

/** The set of these forms. */
export function formSetOf(forms: readonly WriteForm[]): FormSet {
  return forms.reduce((set, form) => set | (1 << WRITE_FORMS.indexOf(form)), 0);
}

/** The forms of the writes of a transaction. Rows and invariants ask it in a row, so the last answer is remembered. */
export function formsIn(writes: readonly Write[]): FormSet {
  if (last?.writes !== writes) last = { writes, forms: formsOf(writes) };
  return last.forms;
}

let last: { readonly writes: readonly Write[]; readonly forms: FormSet } | undefined;

function formsOf(writes: readonly Write[]): FormSet {
  let forms = 0;
  for (const write of writes) {
    if (write.kind === "entry") forms |= ENTRY;
    else if (write.kind === "usage") forms |= USAGE;
    else forms |= (write.op === "set" ? SETS : DELETES)[write.namespace];
  }
  return forms;
}

const ENTRY = formSetOf(["entry"]);
const USAGE = formSetOf(["usage"]);
const SETS = registerForms("set");
const DELETES = registerForms("delete");

function registerForms(op: "set" | "delete"): Readonly<Record<RegisterNamespace, FormSet>> {
  const forms = REGISTER_NAMESPACES.map((namespace) => [namespace, formSetOf([`${op} ${namespace}`])]);
  return Object.fromEntries(forms) as Record<RegisterNamespace, FormSet>;
}
