/**
 * Registers: the only mutable store, a current value per (namespace, key) (spec §1.1, §1.3).
 * This file is the complete list of namespaces, each with the type and the schema of its value.
 */
import { type Static, Type } from "typebox";
import { type JsonObject, JsonObjectSchema, type JsonValue, JsonValueSchema } from "./json.ts";
import {
  type LaneConfiguration,
  LaneConfigurationSchema,
  type LaneLastResult,
  LaneLastResultSchema,
  type LaneState,
  LaneStateSchema,
} from "./lane.ts";
import { AgentMessageSlotSchema } from "./message.ts";
import { type Operation, OperationSchema } from "./operation.ts";
import { type OperationState, OperationStateSchema } from "./operation-state.ts";
import { type DurableStructuralPreparation, DurableStructuralPreparationSchema } from "./preparation.ts";
import { closed, type Holds, NonEmptyString, NullableId, type Same } from "./schema.ts";

/**
 * Content that has an id but no place yet; its placement writes the entry and deletes the register (spec §2.2).
 * Stricter than the specification's sketch by one rule: a pending message has a payload, because only a custom
 * entry may lack one.
 */
export const PendingEntrySchema = Type.Union([
  closed({ type: Type.Literal("message"), payload: AgentMessageSlotSchema }),
  closed({
    type: Type.Literal("custom"),
    customType: NonEmptyString,
    payload: Type.Optional(JsonValueSchema),
  }),
]);
export type PendingEntry = Static<typeof PendingEntrySchema>;

/** What each namespace holds (spec §1.3). */
export interface RegisterValues {
  /** The entry that a lane points at; `null` at the root. */
  "lane.leaf": string | null;
  "lane.config": LaneConfiguration;
  "lane.state": LaneState;
  "lane.lastResult": LaneLastResult;
  "op.meta": Operation;
  "op.state": OperationState;
  /** Effective tool arguments, under `{operationId}:{stepId}:{sourceIndex}`. */
  "op.tool_args": JsonObject;
  "op.preparation": DurableStructuralPreparation;
  "pending.entry": PendingEntry;
  "fact.name": string;
  "fact.label": string;
  /** JSON `null` is a legal value, distinct from an absent register. */
  "fact.custom": JsonValue;
}
export type RegisterNamespace = keyof RegisterValues;

/** One register (spec §1.1); `seq` is that of the write that last set it. */
export interface Register<Namespace extends RegisterNamespace = RegisterNamespace> {
  namespace: Namespace;
  key: string;
  value: RegisterValues[Namespace];
  seq: number;
}

/** The schema of each namespace's value. Message places inside are checked by role in `validate.ts`. */
export const REGISTER_SCHEMAS = {
  "lane.leaf": NullableId,
  "lane.config": LaneConfigurationSchema,
  "lane.state": LaneStateSchema,
  "lane.lastResult": LaneLastResultSchema,
  "op.meta": OperationSchema,
  "op.state": OperationStateSchema,
  "op.tool_args": JsonObjectSchema,
  "op.preparation": DurableStructuralPreparationSchema,
  "pending.entry": PendingEntrySchema,
  "fact.name": Type.String(),
  "fact.label": Type.String(),
  "fact.custom": JsonValueSchema,
} as const;

/** Every namespace, in the order of the specification. */
export const REGISTER_NAMESPACES = Object.freeze(
  Object.keys(REGISTER_SCHEMAS),
) as readonly RegisterNamespace[];

/** Whether `name` is one of the twelve namespaces. */
export function isRegisterNamespace(name: unknown): name is RegisterNamespace {
  return typeof name === "string" && Object.hasOwn(REGISTER_SCHEMAS, name);
}

type SchemaValues = { [Name in keyof typeof REGISTER_SCHEMAS]: Static<(typeof REGISTER_SCHEMAS)[Name]> };
/** The list of types and the list of schemas say the same, or this line does not compile. */
export type RegisterSchemasAgree = Holds<Same<SchemaValues, RegisterValues>>;
