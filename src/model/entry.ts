/**
 * Entries: the write-once rows of the conversation tree, placement and payload in one (spec §1.1, §2.1).
 *
 * 1. `type` and `customType` are structure: queries filter by them; payload never drives structure.
 * 2. `customType` stands on custom entries only.
 * 3. `terminate` stands only on message entries; it is orchestration that a tool result has no field for.
 * 4. Only a custom entry may lack its payload.
 *
 * A draft is an entry before its commit: storage assigns `seq` and `timestamp`.
 */
import { type Static, Type } from "typebox";
import { JsonValueSchema } from "./json.ts";
import { AgentMessageSlotSchema } from "./message.ts";
import { closed, NonEmptyString, NullableId, SafeCount } from "./schema.ts";
import { UsageSchema } from "./usage.ts";

const placement = {
  /** UUIDv7 (spec §1.2). */
  id: NonEmptyString,
  /** `null` at the root. */
  parentId: NullableId,
};
/** Assigned by storage at commit; `timestamp` in Unix ms. */
const stamp = { seq: SafeCount, timestamp: SafeCount };

const messageProperties = {
  type: Type.Literal("message"),
  ...placement,
  message: AgentMessageSlotSchema,
  terminate: Type.Optional(Type.Literal(true)),
};
const compactionProperties = {
  type: Type.Literal("compaction"),
  ...placement,
  summary: Type.String(),
  /** Complete, `[]` when empty: a context never reads past its compaction. */
  retainedTail: Type.Array(AgentMessageSlotSchema),
  tokensBefore: SafeCount,
  details: Type.Optional(JsonValueSchema),
  usage: Type.Optional(UsageSchema),
  fromHook: Type.Boolean(),
};
const branchSummaryProperties = {
  type: Type.Literal("branch_summary"),
  ...placement,
  /** The leaf of the summarized branch before the navigation. */
  fromId: NonEmptyString,
  summary: Type.String(),
  details: Type.Optional(JsonValueSchema),
  usage: Type.Optional(UsageSchema),
  fromHook: Type.Boolean(),
};
const customProperties = {
  type: Type.Literal("custom"),
  ...placement,
  customType: NonEmptyString,
  data: Type.Optional(JsonValueSchema),
};

export const MessageEntrySchema = closed({ ...messageProperties, ...stamp });
export const CompactionEntrySchema = closed({ ...compactionProperties, ...stamp });
export const BranchSummaryEntrySchema = closed({ ...branchSummaryProperties, ...stamp });
export const CustomEntrySchema = closed({ ...customProperties, ...stamp });
export const EntrySchema = Type.Union([
  MessageEntrySchema,
  CompactionEntrySchema,
  BranchSummaryEntrySchema,
  CustomEntrySchema,
]);

export const EntryDraftSchema = Type.Union([
  closed(messageProperties),
  closed(compactionProperties),
  closed(branchSummaryProperties),
  closed(customProperties),
]);

export type MessageEntry = Static<typeof MessageEntrySchema>;
export type CompactionEntry = Static<typeof CompactionEntrySchema>;
export type BranchSummaryEntry = Static<typeof BranchSummaryEntrySchema>;
export type CustomEntry = Static<typeof CustomEntrySchema>;
/** A row of the conversation tree. */
export type Entry = MessageEntry | CompactionEntry | BranchSummaryEntry | CustomEntry;

export const ENTRY_TYPES = ["message", "compaction", "branch_summary", "custom"] as const;
export type EntryType = Entry["type"];

/** An entry before its commit, member by member without `seq` and `timestamp` (spec §1.4). */
export type EntryDraft = Entry extends infer Each
  ? Each extends Entry
    ? Omit<Each, "seq" | "timestamp">
    : never
  : never;

/** Placement without payload (spec §1.5). */
export interface EntryStructure {
  id: string;
  parentId: string | null;
  seq: number;
  timestamp: number;
  type: EntryType;
  customType?: string;
}
