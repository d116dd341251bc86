/**
 * Facts: the session's name, the labels of entries, and what an application keeps for itself (spec §2.4).
 *
 * A fact belongs to the session and not to the tree: the latest value counts, it moves no leaf, and a fork of a branch
 * keeps it. `undefined` deletes the register, and deleting what was never set is legal. JSON null is a value of a
 * custom fact like any other; it is told from a deleted one by the register being there.
 */
import type { JsonValue } from "../foundation/index.ts";
import type { Write } from "../model/index.ts";

/** The key of the one name. */
export const NAME_KEY = "";

/** Sets or, with `undefined`, deletes the name of the session. */
export function nameWrite(name: string | undefined): Write {
  if (name === undefined) return { kind: "register", op: "delete", namespace: "fact.name", key: NAME_KEY };
  return { kind: "register", op: "set", namespace: "fact.name", key: NAME_KEY, value: name };
}

/** Sets or deletes the label of an entry. */
export function labelWrite(targetId: string, label: string | undefined): Write {
  if (label === undefined) {
    return { kind: "register", op: "delete", namespace: "fact.label", key: targetId };
  }
  return { kind: "register", op: "set", namespace: "fact.label", key: targetId, value: label };
}

/** Sets or deletes a custom fact. */
export function customFactWrite(key: string, value: JsonValue | undefined): Write {
  if (value === undefined) return { kind: "register", op: "delete", namespace: "fact.custom", key };
  return { kind: "register", op: "set", namespace: "fact.custom", key, value };
}

/** A label was to be set on an entry that is not in the session. Nothing was written. */
export class UnknownLabelTarget extends Error {
  override readonly name = "UnknownLabelTarget";
  readonly code = "UNKNOWN_LABEL_TARGET";
  readonly targetId: string;

  constructor(targetId: string) {
    super(
      `no entry ${targetId} in this session; a label is set on an entry that exists; nothing was written`,
    );
    this.targetId = targetId;
  }
}
