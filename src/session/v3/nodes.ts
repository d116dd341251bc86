/**
 * The nodes of a legacy session: versions 1 and 2 brought to the form of version 3, ids and parents checked, and each
 * node given its nearest kept ancestor (spec Appendix B).
 *
 * Terms. *Node*: a line of the file beside the header, which is an entry of the legacy tree. *Kept*: a node that
 * becomes an entry of format 4; every other one is dropped from the tree, and its children are given to its nearest
 * kept ancestor.
 *
 * Invariants.
 * 1. A parent stands before its child. A file in which one comes later, names itself, or repeats an id is refused.
 * 2. A parent that is nowhere in the file makes its child a root: the line that held it was lost, and the old reader
 *    ended the path there.
 */
import { Corruption } from "../../foundation/index.ts";
import { type LegacyLine, placeOf, type V3Warning } from "./lines.ts";
import type { LegacyVersion } from "./recognise.ts";

/** One node, in the form of version 3. */
export interface LegacyNode extends LegacyLine {
  readonly type: string;
  readonly id: string;
  /** In the file, or null. */
  readonly parent: LegacyNode | null;
  /** The node itself if it is kept, or its nearest kept ancestor. */
  readonly kept: LegacyNode | null;
  /** `compaction`: the id that it names as the first kept entry, version 1's index resolved. */
  readonly firstKeptEntryId: string | undefined;
}

/** The nodes of a file, in its order, and by id. */
export interface LegacyTree {
  readonly nodes: readonly LegacyNode[];
  readonly byId: ReadonlyMap<string, LegacyNode>;
}

/** Whether nodes of a type become entries. */
function isKeptType(type: string): boolean {
  return KEPT_TYPES.has(type);
}

const KEPT_TYPES: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "compaction",
  "branch_summary",
  "custom",
]);

/** The reasons of the `Corruption` with which a legacy file is refused. */
export type V3CorruptionReason =
  /** Zero bytes. */
  | "empty_file"
  /** The first object of the file is no header. */
  | "no_header"
  /** A field of the header has the wrong type. */
  | "bad_header"
  /** A field that every node has is missing or has the wrong type. */
  | "malformed_entry"
  | "duplicate_id"
  /** A node is its own parent. */
  | "self_parent"
  /** A parent stands later in the file than its child; a cycle always has one. */
  | "parent_later"
  /** A kept entry does not satisfy its schema, also after the known repairs. */
  | "invalid_entry"
  /** A kept entry holds a value that JSON cannot carry, such as a number beyond the range. */
  | "outside_json_domain";

/** Builds the tree from all lines behind the header. @throws Corruption */
export function legacyTree(
  lines: readonly LegacyLine[],
  version: LegacyVersion,
  file: string | undefined,
  warnings: V3Warning[],
): LegacyTree {
  const drafts = version === 1 ? chained(lines, file) : lines.map((line) => draftOf(line, file));
  const indexes = new Map<string, number>();
  for (const [index, draft] of drafts.entries()) {
    if (indexes.has(draft.id)) {
      refuse("duplicate_id", `the id ${draft.id} is used before`, draft.source, file, draft.id);
    }
    indexes.set(draft.id, index);
  }
  const nodes: LegacyNode[] = [];
  const byId = new Map<string, LegacyNode>();
  for (const [index, draft] of drafts.entries()) {
    const parent = parentOf(draft, index, indexes, nodes, file, warnings);
    const node = nodeOf(draft, parent);
    nodes.push(node);
    byId.set(node.id, node);
  }
  return { nodes, byId };
}

interface Draft {
  readonly source: LegacyLine;
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly firstKeptEntryId: string | undefined;
}

function draftOf(source: LegacyLine, file: string | undefined): Draft {
  const type = typeOf(source, file);
  const { id, parentId } = source.record;
  const firstKeptEntryId = source.record.firstKeptEntryId ?? undefined;
  if (typeof id !== "string" || id === "") {
    refuse("malformed_entry", "the id of an entry is a non-empty string", source, file);
  }
  if (parentId !== null && typeof parentId !== "string") {
    refuse("malformed_entry", "the parentId of an entry is a string or null", source, file, id);
  }
  if (firstKeptEntryId !== undefined && typeof firstKeptEntryId !== "string") {
    refuse("malformed_entry", "firstKeptEntryId is a string or absent", source, file, id);
  }
  return { source, type, id, parentId, firstKeptEntryId };
}

/**
 * Version 1: no ids, the file is one branch. The line number is the id, which stays the same at every reading. A
 * compaction names its first kept entry by an index into all parsed lines, of which the header is 0.
 */
function chained(lines: readonly LegacyLine[], file: string | undefined): Draft[] {
  const idAt = (index: number) => `v1-${lines[index]?.line}`;
  return lines.map((source, index) => {
    const { firstKeptEntryIndex, firstKeptEntryId: unknownId } = source.record;
    const keptIndex = typeof firstKeptEntryIndex === "number" ? firstKeptEntryIndex - 1 : -1;
    const named = typeof unknownId === "string" ? unknownId : undefined;
    return {
      source,
      type: typeOf(source, file),
      id: idAt(index),
      parentId: index === 0 ? null : idAt(index - 1),
      firstKeptEntryId: lines[keptIndex] === undefined ? named : idAt(keptIndex),
    };
  });
}

function typeOf(source: LegacyLine, file: string | undefined): string {
  const { type } = source.record;
  if (typeof type !== "string") refuse("malformed_entry", "the type of an entry is a string", source, file);
  return type;
}

function parentOf(
  draft: Draft,
  index: number,
  indexes: ReadonlyMap<string, number>,
  nodes: readonly LegacyNode[],
  file: string | undefined,
  warnings: V3Warning[],
): LegacyNode | null {
  const { source, id, parentId } = draft;
  if (parentId === null) return null;
  const parentIndex = indexes.get(parentId);
  if (parentIndex === undefined) {
    const message = `the parent ${parentId} of entry ${id} is not in the file; the entry became a root`;
    warnings.push({ reason: "missing_parent", message, line: source.line, byteOffset: source.byteOffset });
    return null;
  }
  if (parentIndex === index) refuse("self_parent", `entry ${id} is its own parent`, source, file, id);
  if (parentIndex > index) {
    refuse("parent_later", `the parent ${parentId} of entry ${id} stands after it`, source, file, id);
  }
  return nodes[parentIndex] ?? null;
}

function nodeOf({ source, type, id, firstKeptEntryId }: Draft, parent: LegacyNode | null): LegacyNode {
  const node = { ...source, type, id, parent, firstKeptEntryId };
  if (!isKeptType(type)) return { ...node, kept: parent?.kept ?? null };
  const keptNode: LegacyNode & { kept: LegacyNode | null } = { ...node, kept: null };
  keptNode.kept = keptNode;
  return keptNode;
}

/** @throws Corruption */
export function refuse(
  reason: V3CorruptionReason,
  message: string,
  source: LegacyLine,
  file: string | undefined,
  subject?: string,
): never {
  const place = placeOf(source, file, subject === undefined ? undefined : `entry ${subject}`);
  throw new Corruption(reason, `${message}; nothing was changed`, place);
}
