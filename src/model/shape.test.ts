/**
 * Three readings of one schema must agree on every value: the whole schema as TypeBox compiles it, the check that
 * `shape.ts` assembles from parts, and the walk of `issue.ts`. The values are right samples with one place changed.
 */
import fc from "fast-check";
import { type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { EntryDraftSchema, EntrySchema } from "./entry.ts";
import { issueOf } from "./issue.ts";
import { BUILT_IN_MESSAGE_SCHEMAS } from "./message.ts";
import { OperationStateSchema } from "./operation-state.ts";
import { REGISTER_NAMESPACES, REGISTER_SCHEMAS } from "./register.ts";
import {
  sampleEntries,
  sampleLastResults,
  sampleMessages,
  sampleOperations,
  samplePreparations,
  sampleRegisterValues,
  sampleUsageRow,
  toDraft,
} from "./samples.ts";
import { sampleOperationStates } from "./samples-operation-state.ts";
import { Shape } from "./shape.ts";
import { UsageRowSchema } from "./usage.ts";

interface Subject {
  name: string;
  schema: TSchema;
  value: unknown;
}
const registerValues = sampleRegisterValues();
const under = (name: string, schema: TSchema, values: Record<string, unknown>): Subject[] =>
  Object.entries(values).map(([key, value]) => ({ name: `${name}: ${key}`, schema, value }));
const subjects: Subject[] = [
  ...REGISTER_NAMESPACES.map((name) => ({
    name,
    schema: REGISTER_SCHEMAS[name],
    value: registerValues[name],
  })),
  ...under("op.meta", REGISTER_SCHEMAS["op.meta"], sampleOperations()),
  ...under("op.preparation", REGISTER_SCHEMAS["op.preparation"], samplePreparations()),
  ...under("lane.lastResult", REGISTER_SCHEMAS["lane.lastResult"], sampleLastResults()),
  ...under("op.state", OperationStateSchema, sampleOperationStates()),
  ...under("entry", EntrySchema, sampleEntries()),
  ...Object.entries(sampleEntries()).map(([key, entry]) => ({
    name: `draft: ${key}`,
    schema: EntryDraftSchema,
    value: toDraft(entry),
  })),
  ...Object.entries(sampleMessages()).map(([name, message]) => ({
    name,
    schema: BUILT_IN_MESSAGE_SCHEMAS[message.role],
    value: message,
  })),
  { name: "usage row", schema: UsageRowSchema, value: sampleUsageRow() },
];
const wholeChecks = new Map(subjects.map(({ schema }) => [schema, Compile(schema)]));

/** Every place of a value, as the keys that lead to it. */
function placesOf(value: unknown, trail: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [trail];
  return [trail, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...trail, key]))];
}

type Change = { kind: "set" | "add"; replacement: unknown } | { kind: "delete" };

function changed(value: unknown, trail: string[], change: Change): unknown {
  const root = { value: structuredClone(value) };
  let holder: Record<string, unknown> = root;
  let last = "value";
  for (const key of trail) {
    holder = holder[last] as Record<string, unknown>;
    last = key;
  }
  const place = holder[last];
  // Spliced, not deleted: a list with a hole is no JSON, and admission refuses it before any schema sees it.
  if (change.kind === "delete" && Array.isArray(holder)) holder.splice(Number(last), 1);
  else if (change.kind === "delete") delete holder[last];
  else if (change.kind === "set") holder[last] = change.replacement;
  else if (Array.isArray(place)) place.push(change.replacement);
  else if (typeof place === "object" && place !== null)
    Object.assign(place, { "extra\nkey": change.replacement });
  return root.value;
}

/** Values that are likely to be right somewhere else: constants of other branches, limits, other kinds. */
const replacement = fc.oneof(
  fc.constantFrom<unknown>(
    ...["", "run", "compaction", "navigation", "ready", "effect_pending", "retry_wait", "message", "custom"],
    ...["pending", "deferred", "stop", "text", "failed", "aborted", "never", "off", null, true, false],
    ...[0, -1, 1.5, 2 ** 53, Number.NaN, undefined, [], {}, new Date(0), [undefined], Symbol("s")],
  ),
  fc.jsonValue(),
  fc.constantFrom(...subjects.map(({ value }) => value)),
);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constantFrom("set", "add"), replacement }),
  fc.record({ kind: fc.constant("delete") }),
);

describe("a shape", () => {
  it("accepts every sample in all three readings", () => {
    for (const { name, schema, value } of subjects) {
      expect([name, wholeChecks.get(schema)?.Check(value), Shape.of(schema).matches(value)]).toEqual([
        name,
        true,
        true,
      ]);
      expect([name, issueOf(schema, value)]).toEqual([name, undefined]);
    }
  });

  it("agrees with the whole compiled schema, and with the walk, on every changed sample", () => {
    let refusedCount = 0;
    const mutated = fc.record({ subject: fc.constantFrom(...subjects), place: fc.nat(), change });
    fc.assert(
      fc.property(mutated, ({ subject: { schema, value }, place, change }) => {
        const places = placesOf(value);
        const candidate = changed(value, places[place % places.length] ?? [], change);
        const isRight = wholeChecks.get(schema)?.Check(candidate);
        if (!isRight) refusedCount++;
        expect(Shape.of(schema).matches(candidate)).toBe(isRight);
        expect(issueOf(schema, candidate) === undefined).toBe(isRight);
      }),
      { numRuns: 5000 },
    );
    // Were nothing refused, the agreement would say nothing.
    expect(refusedCount).toBeGreaterThan(500);
  });

  it("gives every schema object one shape, so that it is compiled once", () => {
    expect(Shape.of(OperationStateSchema)).toBe(Shape.of(OperationStateSchema));
  });

  it("places an issue on the whole value when an application's schema uses a keyword the walk does not read", () => {
    const even = Type.Object({ count: Type.Integer({ multipleOf: 2 }) });
    expect(Shape.ofApplication(even).issue({ count: 3 }, "/message")).toEqual({
      path: "/message",
      expected: "a value of its schema",
      found: "an object with count",
    });
  });
});
