/**
 * The registers of a legacy session: the place of `main`, and what its nodes say of the session beside the tree
 * (spec Appendix B). Changes of model, thinking level and tools say nothing here: the lane has no configuration until
 * a harness gives it one.
 */
import { idleLaneState, type Register, type RegisterNamespace } from "../../model/index.ts";
import { byNamespaceThenSeq } from "../../storage/index.ts";
import { MAIN_LANE } from "../lane.ts";
import type { V3Warning } from "./lines.ts";
import { type LegacyNode, type LegacyTree, refuse } from "./nodes.ts";
import { admitMended } from "./values.ts";

/** The lane `main`, at rest and without a configuration, and the facts; labels in the order in which they were set. */
export function registersOf(
  tree: LegacyTree,
  idOf: ReadonlyMap<string, string>,
  entryCount: number,
  file: string | undefined,
  warnings: V3Warning[],
): Register[] {
  const registers: Register[] = [];
  const set = (namespace: RegisterNamespace, key: string, value: unknown) => {
    const seq = entryCount + registers.length + 1;
    const admitted = admitMended({ namespace, key, value, seq }).value;
    registers.push(admitted as Register);
  };
  const leaf = leafOf(tree, file);
  set("lane.leaf", MAIN_LANE, leaf === null ? null : (idOf.get(leaf.id) ?? null));
  set("lane.state", MAIN_LANE, idleLaneState());
  const name = nameOf(tree, file);
  if (name !== "") set("fact.name", "", name);
  for (const [id, label] of labelsOf(tree, idOf, file, warnings)) set("fact.label", id, label);
  return registers.sort(byNamespaceThenSeq);
}

/** The nearest kept ancestor of the last node; a node of the type `leaf` speaks for the one that it names. */
function leafOf({ nodes, byId }: LegacyTree, file: string | undefined): LegacyNode | null {
  const last = nodes.at(-1);
  if (last === undefined) return null;
  if (last.type !== "leaf") return last.kept;
  const { targetId } = last.record;
  if (targetId === null) return null;
  if (typeof targetId !== "string") {
    refuse("malformed_entry", "the targetId of a leaf is a string or null", last, file, last.id);
  }
  return byId.get(targetId)?.kept ?? null;
}

function nameOf({ nodes }: LegacyTree, file: string | undefined): string {
  let name = "";
  for (const node of nodes) {
    if (node.type === "session_info") name = optionalText(node, "name", file).trim();
  }
  return name;
}

/** By new entry id, in the order in which the last label of each was set. */
function labelsOf(
  { nodes, byId }: LegacyTree,
  idOf: ReadonlyMap<string, string>,
  file: string | undefined,
  warnings: V3Warning[],
): Map<string, string> {
  const labels = new Map<string, string>();
  for (const node of nodes) {
    if (node.type !== "label") continue;
    const { targetId } = node.record;
    if (typeof targetId !== "string") {
      refuse("malformed_entry", "the targetId of a label is a string", node, file, node.id);
    }
    const label = optionalText(node, "label", file);
    const kept = byId.get(targetId)?.kept ?? null;
    const id = kept === null ? undefined : idOf.get(kept.id);
    if (id === undefined) {
      const { line, byteOffset } = node;
      const message = `the label of ${targetId} has no entry left to carry it`;
      warnings.push({ reason: "label_dropped", message, line, byteOffset });
      continue;
    }
    labels.delete(id);
    if (label !== "") labels.set(id, label);
  }
  return labels;
}

function optionalText(node: LegacyNode, name: string, file: string | undefined): string {
  const value = node.record[name] ?? "";
  if (typeof value === "string") return value;
  return refuse(
    "malformed_entry",
    `the ${name} of a ${node.type} is a string or absent`,
    node,
    file,
    node.id,
  );
}
