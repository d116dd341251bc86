import { type TSchema, Type } from "typebox";
import { describe, expect, it } from "vitest";
import { REGISTER_NAMESPACES, type RegisterNamespace } from "./register.ts";
import {
  sampleAssistant,
  sampleEntries,
  sampleLastResults,
  sampleMessages,
  sampleOperations,
  samplePreparations,
  sampleRegisterValues,
  sampleUsageRow,
  toDraft,
} from "./samples.ts";
import { sampleOperationStates, sampleRun } from "./samples-operation-state.ts";
import { addUsage, zeroUsage } from "./usage.ts";
import {
  validateEntry,
  validateEntryDraft,
  validateMessage,
  validateOperationState,
  validateRegister,
  validateTransaction,
  validateUsageRow,
  validateUsageRowDraft,
} from "./validate.ts";

/** A copy of `value` with the place at `path` set to `replacement`, or removed when that is `undefined`. */
function broken(value: unknown, path: string, replacement: unknown): unknown {
  const copy: unknown = structuredClone(value);
  const keys = path.split("/").slice(1);
  const last = keys.pop();
  if (last === undefined) return replacement;
  let holder = copy as Record<string, unknown>;
  for (const key of keys) holder = holder[key] as Record<string, unknown>;
  if (replacement === undefined) delete holder[last];
  else holder[last] = replacement;
  return copy;
}

interface Wrong {
  name: string;
  value: unknown;
  path: string;
}
const wrong = (name: string, base: unknown, path: string, replacement: unknown): Wrong => ({
  name,
  value: broken(base, path, replacement),
  path,
});
const named = (values: Record<string, unknown>) =>
  Object.entries(values).map(([name, value]) => ({ name, value }));
/** The sample of that name, which must exist. */
function pick<Value>(values: Record<string, Value>, name: string): Value {
  const value = values[name];
  if (value === undefined) throw new Error(`no sample is called ${name}`);
  return value;
}

describe("registers", () => {
  const values = sampleRegisterValues();
  const accepted = [
    ...REGISTER_NAMESPACES.map((namespace) => ({
      name: namespace as string,
      namespace,
      value: values[namespace],
    })),
    ...Object.entries(sampleOperations()).map(([kind, value]) => ({
      name: `op.meta ${kind}`,
      namespace: "op.meta" as const,
      value,
    })),
    ...Object.entries(samplePreparations()).map(([kind, value]) => ({
      name: `op.preparation ${kind}`,
      namespace: "op.preparation" as const,
      value,
    })),
    ...Object.entries(sampleLastResults()).map(([outcome, value]) => ({
      name: `lane.lastResult ${outcome}`,
      namespace: "lane.lastResult" as const,
      value,
    })),
    { name: "lane.leaf at the root", namespace: "lane.leaf" as const, value: null },
    {
      name: "pending.entry custom without payload",
      namespace: "pending.entry" as const,
      value: { type: "custom", customType: "note" },
    },
  ];
  it.each(accepted)("accepts $name", ({ namespace, value }) => {
    expect(validateRegister(namespace, value)).toBeUndefined();
  });

  const rejected: (Wrong & { namespace: RegisterNamespace })[] = [
    { namespace: "lane.leaf", name: "an empty leaf", value: "", path: "" },
    { namespace: "lane.leaf", name: "a number as leaf", value: 1, path: "" },
    {
      namespace: "lane.config",
      ...wrong("an unknown thinking level", values["lane.config"], "/thinkingLevel", "huge"),
    },
    {
      namespace: "lane.config",
      ...wrong("a model without provider", values["lane.config"], "/model/provider", undefined),
    },
    {
      namespace: "lane.state",
      ...wrong("an empty queued id", values["lane.state"], "/pendingNextRun/0", ""),
    },
    {
      namespace: "lane.state",
      ...wrong("an unknown key", values["lane.state"], "/extra~1key", 1),
      path: "/extra~01key",
    },
    {
      namespace: "lane.lastResult",
      ...wrong("a failure without error", sampleLastResults().failed, "/error", undefined),
    },
    {
      namespace: "lane.lastResult",
      ...wrong("a decline with run completion", sampleLastResults().declined, "/runCompletion", "assistant"),
    },
    {
      namespace: "lane.lastResult",
      ...wrong("an unknown outcome", sampleLastResults().declined, "/outcome", "done"),
    },
    { namespace: "op.meta", ...wrong("an unsafe start time", sampleOperations().run, "/startedAt", 2 ** 53) },
    { namespace: "op.meta", ...wrong("an unknown intent", sampleOperations().run, "/intent/kind", "nap") },
    {
      namespace: "op.meta",
      ...wrong("a navigation without target", sampleOperations().navigation, "/intent/targetId", undefined),
    },
    { namespace: "op.state", ...wrong("a state of unknown kind", sampleRun(), "/kind", "walk") },
    { namespace: "op.tool_args", name: "arguments that are a list", value: [], path: "" },
    { namespace: "op.tool_args", name: "arguments with a date", value: { at: new Date(0) }, path: "" },
    {
      namespace: "op.preparation",
      ...wrong("a set as file list", samplePreparations().compaction, "/fileOps/read", new Set()),
    },
    {
      namespace: "op.preparation",
      ...wrong(
        "an unsettled message",
        samplePreparations().compaction,
        "/retainedTail/0/stopReason",
        "pending",
      ),
    },
    {
      namespace: "op.preparation",
      ...wrong("an unknown role", samplePreparations().branch_summary, "/messages/0/role", "ghost"),
    },
    {
      namespace: "pending.entry",
      ...wrong("a message without payload", values["pending.entry"], "/payload", undefined),
    },
    {
      namespace: "pending.entry",
      ...wrong("a broken payload", values["pending.entry"], "/payload/content", 1),
    },
    {
      namespace: "pending.entry",
      ...wrong(
        "a custom entry without its type",
        { type: "custom", customType: "n" },
        "/customType",
        undefined,
      ),
    },
    { namespace: "fact.name", name: "a name that is null", value: null, path: "" },
    { namespace: "fact.label", name: "a label that is a number", value: 1, path: "" },
    { namespace: "fact.custom", name: "a fact that is not JSON", value: { at: undefined }, path: "" },
    { namespace: "fact.custom", name: "an infinite fact", value: Number.POSITIVE_INFINITY, path: "" },
  ];
  it.each(rejected)("rejects $name in $namespace, at $path", ({ namespace, value, path }) => {
    expect(validateRegister(namespace, value)?.path).toBe(path);
  });

  it("has a rejected value for every namespace", () => {
    expect(new Set(rejected.map(({ namespace }) => namespace))).toEqual(new Set(REGISTER_NAMESPACES));
  });
});

describe("operation states", () => {
  const states = sampleOperationStates();
  it.each(named(states))("accepts $name", ({ value }) => {
    expect(validateOperationState(value)).toBeUndefined();
  });

  /** One broken field per member; the path proves that the issue was found inside the right branch. */
  const breaks: Record<string, [path: string, replacement: unknown]> = {
    "run checkpoint need_assistant": ["/phase/continuation/overflowRecoveryUsed", "no"],
    "run checkpoint may_finish": ["/phase/continuation/includeFinalAssistant", undefined],
    "run assistant ready": ["/phase/generation/nextAttempt", 0],
    "run assistant effect_pending": ["/phase/generation/usageId", ""],
    "run assistant retry_wait": ["/phase/generation/notBefore", 1.5],
    "run tools": ["/phase/batch/calls/1/replay", "maybe"],
    "run compaction deciding": ["/phase/reason", "manual"],
    "run compaction generating ready": ["/phase/structural/generation/context/kind", "nap"],
    "run compaction generating effect_pending": ["/phase/structural/generation/request/index", -1],
    "run compaction generating retry_wait": ["/phase/resumeAfter/triggerEntryId", null],
    "run deferred suspended": ["/phase/deferred/streamOptions/signal", {}],
    "run deferred effect_pending": ["/phase/deferred/poll", 0],
    "run failure_drain response": ["/phase/provenance/entryId", undefined],
    "run failure_drain structural": ["/phase/provenance/kind", "other"],
    "run cancelled": ["/control/drainedFollowUp", undefined],
    "compaction deciding": ["/structural/status", "done"],
    "compaction generating ready": ["/structural/generation/context/retryPolicy/maxAttempts", 0],
    "compaction generating effect_pending": ["/structural/generation/usageIds/0", 7],
    "compaction generating retry_wait": ["/structural/generation/errorMessage", undefined],
    "navigation ready_to_commit": ["/phase/kind", "summary"],
    "navigation summary deciding": ["/targetId", null],
    "navigation summary generating": ["/phase/structural/taskId", ""],
  };
  it.each(
    Object.entries(breaks).map(([name, [path, replacement]]) =>
      wrong(name, pick(states, name), path, replacement),
    ),
  )("rejects $name broken at $path", ({ value, path }) => {
    expect(validateOperationState(value)?.path).toBe(path);
  });
  it("breaks every member of the union once", () => {
    expect(Object.keys(breaks).sort()).toEqual(Object.keys(states).sort());
  });

  it("says what it expected and what it found", () => {
    const value = broken(
      pick(states, "run assistant effect_pending"),
      "/phase/generation/status",
      "sleeping",
    );
    expect(validateOperationState(value)).toEqual({
      path: "/phase/generation/status",
      expected: '"ready" or "effect_pending" or "retry_wait"',
      found: '"sleeping"',
    });
  });
});

describe("entries", () => {
  const entries = sampleEntries();
  it.each(named(entries))("accepts $name, stored and as a draft", ({ value }) => {
    const entry = value as (typeof entries)["message"];
    expect(validateEntry(entry)).toBeUndefined();
    expect(validateEntryDraft(toDraft(entry))).toBeUndefined();
  });
  it.each([
    wrong("message unsettled", entries.message, "/message/stopReason", "pending"),
    wrong("message terminating with false", entries.message, "/terminate", false),
    wrong("message with customType", entries.message, "/customType", "note"),
    wrong("message of an unknown role", entries.message, "/message/role", "ghost"),
    wrong("compaction without tail", entries.compaction, "/retainedTail", undefined),
    wrong("compaction with a broken tail", entries.compaction, "/retainedTail/1/content", 5),
    wrong("compaction with a legacy key", entries.compaction, "/firstKeptEntryId", "e_1"),
    wrong("branch_summary without source", entries.branch_summary, "/fromId", ""),
    wrong("custom without customType", entries.custom, "/customType", undefined),
    wrong("custom with an empty id", entries.custom, "/id", ""),
    wrong("an unknown type", entries.custom, "/type", "leaf"),
    wrong("an entry without seq", entries.custom, "/seq", undefined),
    wrong("a negative seq", entries.custom, "/seq", -1),
  ])("rejects $name, at $path", ({ value, path }) => {
    expect(validateEntry(value)?.path).toBe(path);
  });
  it("rejects a draft that already has a seq", () => {
    expect(validateEntryDraft(entries.custom)?.path).toBe("/seq");
  });
});

describe("messages", () => {
  const messages = sampleMessages();
  it.each(named(messages))("accepts $name", ({ value }) => {
    expect(validateMessage(value)).toBeUndefined();
    expect(validateMessage({ ...(value as object), unknownKey: 1 })).toBeUndefined();
  });
  it.each([
    wrong("a user without content", pick(messages, "user text"), "/content", undefined),
    wrong("a user with a tool call", pick(messages, "user blocks"), "/content/0/type", "toolCall"),
    wrong("an image without data", pick(messages, "user blocks"), "/content/1/data", undefined),
    wrong("an unsettled assistant", sampleAssistant(), "/stopReason", "pending"),
    wrong("a deferred assistant without handle", sampleAssistant("deferred"), "/deferred", undefined),
    wrong("a call with arguments that are a string", sampleAssistant(), "/content/2/arguments", "{}"),
    wrong("usage without cost", sampleAssistant(), "/usage/cost", undefined),
    wrong("usage that is no number", sampleAssistant(), "/usage/cost/total", Number.NaN),
    wrong("a tool result without verdict", pick(messages, "toolResult"), "/isError", undefined),
    wrong("details that are no JSON", pick(messages, "toolResult"), "/details", new Map()),
    wrong("a shell command without output", pick(messages, "bashExecution"), "/output", undefined),
    wrong("a custom message without display", pick(messages, "custom"), "/display", undefined),
    wrong("a branch summary without source", pick(messages, "branchSummary"), "/fromId", undefined),
    wrong("a compaction summary without count", pick(messages, "compactionSummary"), "/tokensBefore", "10"),
    wrong("a message without role", pick(messages, "custom"), "/role", undefined),
    { name: "a message that is null", value: null, path: "" },
    { name: "a role that only a prototype has", value: { role: "toString" }, path: "/role" },
  ])("rejects $name, at $path", ({ value, path }) => {
    expect(validateMessage(value)?.path).toBe(path);
  });

  const schemas: Record<string, TSchema> = {
    ghost: Type.Object({ role: Type.Literal("ghost"), boo: Type.Number(), timestamp: Type.Number() }),
  };
  const ghost = { role: "ghost", boo: 1, timestamp: 1 };
  it("refuses an application's role until its schema is registered", () => {
    expect(validateMessage(ghost)?.path).toBe("/role");
    expect(validateMessage(ghost, schemas)).toBeUndefined();
    expect(validateMessage({ ...ghost, boo: "1" }, schemas)?.path).toBe("/boo");
  });
  it("checks an application's role wherever a message stands", () => {
    const entry = { ...sampleEntries().message, message: ghost };
    expect(validateEntry(entry)?.path).toBe("/message/role");
    expect(validateEntry(entry, schemas)).toBeUndefined();
    expect(validateRegister("pending.entry", { type: "message", payload: ghost }, schemas)).toBeUndefined();
  });
  it("does not let a registration replace a built-in role", () => {
    expect(validateMessage({ role: "user" }, { user: Type.Object({}) })?.path).toBe("/content");
  });
});

describe("the ledger", () => {
  it("accepts a row, stored and as a draft", () => {
    const { seq: _seq, ...draft } = sampleUsageRow();
    expect(validateUsageRow(sampleUsageRow())).toBeUndefined();
    expect(validateUsageRowDraft(draft)).toBeUndefined();
  });
  it.each([
    wrong("a row without adjustment", sampleUsageRow(), "/adjustment", undefined),
    wrong("a row with infinite cost", sampleUsageRow(), "/usage/cost/input", Number.POSITIVE_INFINITY),
    wrong("a row with an unsafe seq", sampleUsageRow(), "/seq", 2 ** 53),
  ])("rejects $name, at $path", ({ value, path }) => {
    expect(validateUsageRow(value)?.path).toBe(path);
  });
  it("adds field by field, and keeps an optional field that either side has", () => {
    const left = { ...zeroUsage(), input: 1, reasoning: 2 };
    const right = { ...zeroUsage(), input: 3, cost: { ...zeroUsage().cost, total: 0.5 } };
    expect(addUsage(left, right)).toEqual({ ...right, input: 4, reasoning: 2 });
    expect(addUsage(right, left)).toEqual(addUsage(left, right));
    expect(addUsage(zeroUsage(), zeroUsage())).toEqual(zeroUsage());
  });
});

describe("transactions", () => {
  const { seq: _seq, ...row } = sampleUsageRow();
  const transaction = {
    writes: [
      { kind: "entry", entry: toDraft(sampleEntries().message) },
      { kind: "usage", row },
      { kind: "register", op: "set", namespace: "op.state", key: "op_1", value: sampleRun() },
      { kind: "register", op: "delete", namespace: "pending.entry", key: "e_9" },
      { kind: "register", op: "set", namespace: "fact.name", key: "", value: "n" },
    ],
  };
  it("accepts one with every kind of write", () => {
    expect(validateTransaction(transaction)).toBeUndefined();
  });
  it.each([
    wrong("one without writes", transaction, "/writes", undefined),
    wrong("an unknown kind of write", transaction, "/writes/0/kind", "blob"),
    wrong("an unknown register operation", transaction, "/writes/2/op", "append"),
    wrong("an unknown namespace", transaction, "/writes/3/namespace", "op.memory"),
    wrong("a delete with a value", transaction, "/writes/3/value", 1),
    wrong("a set without a value", transaction, "/writes/2/value", undefined),
    wrong("an empty key", transaction, "/writes/2/key", ""),
    wrong("a keyed session name", transaction, "/writes/4/key", "x"),
    wrong("an entry with a broken message", transaction, "/writes/0/entry/message/usage/cost", undefined),
    wrong("a row without id", transaction, "/writes/1/row/id", undefined),
    wrong("a broken operation state", transaction, "/writes/2/value/phase/kind", "nap"),
    wrong("an entry under a seq of its own", transaction, "/writes/0/entry/seq", 3),
  ])("rejects $name, at $path", ({ value, path }) => {
    expect(validateTransaction(value)?.path).toBe(path);
  });
  it("knows an application's role only with its schema", () => {
    const message = { role: "ghost", timestamp: 1 };
    const writes = [{ kind: "entry", entry: { id: "e_1", parentId: null, type: "message", message } }];
    expect(validateTransaction({ writes })?.path).toBe("/writes/0/entry/message/role");
    expect(validateTransaction({ writes }, { ghost: Type.Object({}) })).toBeUndefined();
  });
});
