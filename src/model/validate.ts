/**
 * Validators of everything durable: what runs before every commit and after every decode (spec §1.4, §3.3).
 *
 * Each answers `undefined` for a right value, or the first broken place as a `ShapeIssue`. The usual answer costs
 * one or two compiled checks; the path is computed only for a wrong value.
 *
 * 1. A message is checked by its role, wherever it stands: in an entry, a pending entry, a preparation.
 *    A role that is neither built in nor registered is refused (spec §2.8).
 * 2. An assistant message must be settled: `pending` is refused (spec §2.1).
 * 3. Unknown keys are refused in everything but messages, their blocks and usage (`schema.ts` says why).
 *
 * Not checked here: references between values (`operation` and `session` do, spec §3.3), and what `admitJson` of
 * `foundation` refuses before a commit anyway: holes in lists, properties that are `undefined` (an optional one
 * counts as absent here), and extra keys of a message whose values are no JSON.
 */
import type { TSchema } from "typebox";
import { isAdmitted } from "../foundation/index.ts";
import { EntryDraftSchema, EntrySchema } from "./entry.ts";
import { issueFor, pointer, type ShapeIssue } from "./issue.ts";
import { BUILT_IN_MESSAGE_SCHEMAS, type CustomMessageSchemas, NO_CUSTOM_SCHEMAS } from "./message.ts";
import { OperationStateSchema } from "./operation-state.ts";
import { REGISTER_NAMESPACES, REGISTER_SCHEMAS, type RegisterNamespace } from "./register.ts";
import { Shape } from "./shape.ts";
import { TransactionFormSchema } from "./transaction.ts";
import { UsageRowDraftSchema, UsageRowSchema } from "./usage.ts";

/** A register's value, by its namespace (spec §1.3). */
export function validateRegister(
  namespace: RegisterNamespace,
  value: unknown,
  customSchemas: CustomMessageSchemas = NO_CUSTOM_SCHEMAS,
): ShapeIssue | undefined {
  return registerIssue(namespace, value, "", customSchemas);
}

/** A stored entry, `seq` and `timestamp` included (spec §2.1). */
export function validateEntry(
  value: unknown,
  customSchemas: CustomMessageSchemas = NO_CUSTOM_SCHEMAS,
): ShapeIssue | undefined {
  return entryShape.issue(value, "") ?? entryMessagesIssue(value, "", customSchemas);
}

/** An entry before its commit. */
export function validateEntryDraft(
  value: unknown,
  customSchemas: CustomMessageSchemas = NO_CUSTOM_SCHEMAS,
): ShapeIssue | undefined {
  return entryDraftIssue(value, "", customSchemas);
}

/** A stored row of the ledger (spec §1.6). */
export function validateUsageRow(value: unknown): ShapeIssue | undefined {
  return usageRowShape.issue(value, "");
}

/** A row of the ledger before its commit. */
export function validateUsageRowDraft(value: unknown): ShapeIssue | undefined {
  return usageRowDraftShape.issue(value, "");
}

/** A message that may be stored: of a known role, and settled when it is an assistant's. */
export function validateMessage(
  value: unknown,
  customSchemas: CustomMessageSchemas = NO_CUSTOM_SCHEMAS,
): ShapeIssue | undefined {
  return messageIssue(value, "", customSchemas);
}

/** An operation state: its form alone, not what it refers to (spec §3.2). */
export function validateOperationState(value: unknown): ShapeIssue | undefined {
  return operationStateShape.issue(value, "");
}

/** A whole transaction, every write with its content (spec §1.4). */
export function validateTransaction(
  value: unknown,
  customSchemas: CustomMessageSchemas = NO_CUSTOM_SCHEMAS,
): ShapeIssue | undefined {
  const formIssue = transactionFormShape.issue(value, "");
  if (formIssue) return formIssue;
  const writes = (value as { writes: WriteForm[] }).writes;
  for (let index = 0; index < writes.length; index++) {
    const write = writes[index] as WriteForm;
    const issue = writeIssue(write, customSchemas);
    if (issue) return { path: `/writes/${index}${issue.path}`, expected: issue.expected, found: issue.found };
  }
  if (customSchemas === NO_CUSTOM_SCHEMAS && isAdmitted(value as object)) lastValid = writes;
  return undefined;
}

/**
 * The writes of a transaction whose messages are of the built-in roles. Who looks on at a commit asks this of the very
 * writes that were held against their schemas before it; admitted values cannot change, so that answer still holds.
 */
export function validateWrites(writes: readonly unknown[]): ShapeIssue | undefined {
  return writes === lastValid ? undefined : validateTransaction({ writes });
}

/** The writes of the last admitted transaction that was right with the built-in roles alone. */
let lastValid: readonly unknown[] | undefined;

/** A write whose outer form holds and whose content is not yet checked. */
type WriteForm =
  | { kind: "entry"; entry: unknown }
  | { kind: "usage"; row: unknown }
  | { kind: "register"; op: "set"; namespace: RegisterNamespace; key: string; value: unknown }
  | { kind: "register"; op: "delete"; namespace: RegisterNamespace; key: string };

/** Its path begins at the write. */
function writeIssue(write: WriteForm, customSchemas: CustomMessageSchemas): ShapeIssue | undefined {
  switch (write.kind) {
    case "entry":
      return entryDraftIssue(write.entry, "/entry", customSchemas);
    case "usage":
      return usageRowDraftShape.issue(write.row, "/row");
    case "register": {
      const issue = keyIssue(write.namespace, write.key);
      if (issue || write.op === "delete") return issue;
      return registerIssue(write.namespace, write.value, "/value", customSchemas);
    }
  }
}

/** Session-wide facts have the empty key, applications name their own, every other key is an id or a lane. */
function keyIssue(namespace: RegisterNamespace, key: string): ShapeIssue | undefined {
  if (namespace === "fact.name") return key === "" ? undefined : issueFor("/key", '""', key);
  if (namespace === "fact.custom" || key !== "") return undefined;
  return issueFor("/key", "a non-empty string", key);
}

function registerIssue(
  namespace: RegisterNamespace,
  value: unknown,
  path: string,
  customSchemas: CustomMessageSchemas,
): ShapeIssue | undefined {
  const issue = registerShapes[namespace].issue(value, path);
  if (issue) return issue;
  switch (namespace) {
    case "pending.entry": {
      const pending = value as { type: string; payload?: unknown };
      return pending.type === "message"
        ? messageIssue(pending.payload, `${path}/payload`, customSchemas)
        : undefined;
    }
    case "op.preparation":
      return messageListsIssue(value, PREPARATION_MESSAGE_LISTS, path, customSchemas);
    default:
      return undefined;
  }
}

function entryDraftIssue(
  value: unknown,
  path: string,
  customSchemas: CustomMessageSchemas,
): ShapeIssue | undefined {
  return entryDraftShape.issue(value, path) ?? entryMessagesIssue(value, path, customSchemas);
}

function entryMessagesIssue(
  entry: unknown,
  path: string,
  customSchemas: CustomMessageSchemas,
): ShapeIssue | undefined {
  const { type, message } = entry as { type: string; message?: unknown };
  if (type === "message") return messageIssue(message, `${path}/message`, customSchemas);
  return type === "compaction" ? messageListsIssue(entry, ["retainedTail"], path, customSchemas) : undefined;
}

function messageListsIssue(
  holder: unknown,
  keys: readonly string[],
  path: string,
  customSchemas: CustomMessageSchemas,
): ShapeIssue | undefined {
  for (const key of keys) {
    const messages = (holder as Record<string, unknown[] | undefined>)[key] ?? [];
    for (let index = 0; index < messages.length; index++) {
      const issue = messageIssue(messages[index], pointer(pointer(path, key), index), customSchemas);
      if (issue) return issue;
    }
  }
  return undefined;
}

function messageIssue(
  value: unknown,
  path: string,
  customSchemas: CustomMessageSchemas,
): ShapeIssue | undefined {
  if (typeof value !== "object" || value === null) return issueFor(path, "a message", value);
  const role: unknown = (value as { role?: unknown }).role;
  const builtIn = typeof role === "string" ? builtInMessageShapes.get(role) : undefined;
  if (builtIn) return builtIn.issue(value, path);
  if (typeof role === "string" && Object.hasOwn(customSchemas, role)) {
    return Shape.ofApplication(customSchemas[role] as TSchema).issue(value, path);
  }
  const registered = [...builtInMessageShapes.keys(), ...Object.keys(customSchemas)];
  return issueFor(pointer(path, "role"), `a registered role: ${registered.join(", ")}`, role);
}

const PREPARATION_MESSAGE_LISTS = ["messagesToSummarize", "turnPrefixMessages", "retainedTail", "messages"];

const entryShape = Shape.of(EntrySchema);
const entryDraftShape = Shape.of(EntryDraftSchema);
const usageRowShape = Shape.of(UsageRowSchema);
const usageRowDraftShape = Shape.of(UsageRowDraftSchema);
const transactionFormShape = Shape.of(TransactionFormSchema);
const operationStateShape = Shape.of(OperationStateSchema);
const builtInMessageShapes: ReadonlyMap<string, Shape> = new Map(
  Object.entries(BUILT_IN_MESSAGE_SCHEMAS).map(([role, schema]) => [role, Shape.of(schema)]),
);
const registerShapes = Object.fromEntries(
  REGISTER_NAMESPACES.map((namespace) => [namespace, Shape.of(REGISTER_SCHEMAS[namespace])]),
) as Record<RegisterNamespace, Shape>;
