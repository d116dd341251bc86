/**
 * The view of a schema that this room works on: the JSON Schema keywords it uses, and the discriminants of a union.
 *
 * A *discriminant* is a property that is required and constant (one value, or one of several) in every branch of a
 * union of objects: `kind`, `status`, `type`, `role`. It tells the branch a value means, before anything is checked.
 */

/** The keywords that are read here; every schema is seen as this record. */
export interface Keywords {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Keywords[];
  allOf?: Keywords[];
  properties?: Record<string, Keywords>;
  required?: string[];
  additionalProperties?: boolean | Keywords;
  patternProperties?: Record<string, Keywords>;
  items?: Keywords;
  not?: Keywords;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  "~refine"?: { check: (value: unknown) => boolean; error: (value: unknown) => string }[];
}

/** The values that a schema allows, when it allows only constants. */
export function constantsOf(schema: Keywords | undefined): unknown[] | undefined {
  if (!schema) return undefined;
  if (Object.hasOwn(schema, "const")) return [schema.const];
  return schema.enum;
}

/** The branches of a union with nested unions opened: navigation states are a union among the operation states. */
export function flatten(schema: Keywords): Keywords[] {
  return schema.anyOf ? schema.anyOf.flatMap(flatten) : [schema];
}

/** Every discriminant of the branches, in the order in which the first branch declares them. */
export function discriminantsOf(branches: readonly Keywords[]): string[] {
  const [first, ...others] = branches;
  if (!first || others.length === 0) return [];
  return Object.keys(first.properties ?? {}).filter((key) =>
    branches.every((branch) => branch.required?.includes(key) && constantsOf(branch.properties?.[key])),
  );
}

/** The branches that each value of a discriminant leaves over. */
export function branchesByConstant(
  branches: readonly Keywords[],
  discriminant: string,
): Map<unknown, Keywords[]> {
  const groups = new Map<unknown, Keywords[]>();
  for (const branch of branches) {
    for (const constant of constantsOf(branch.properties?.[discriminant]) ?? []) {
      const group = groups.get(constant);
      if (group) group.push(branch);
      else groups.set(constant, [branch]);
    }
  }
  return groups;
}
