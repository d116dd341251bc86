/**
 * A schema with its compiled check, compiled in pieces and on demand.
 *
 * Compiled as one piece, the schema of a run is a function of 97 kB: 25 ms to make, and too large for the engine's
 * optimizer. So a schema of the house is compiled part by part: every object is a check of its own, and a union
 * with a discriminant looks up the one branch that the value means. A part is compiled when a value first reaches
 * it, so a child process that never navigates never compiles a navigation. Parts are shared by schema identity: a
 * lane configuration has one check, wherever it stands.
 *
 * An application's schema is compiled whole, as its author wrote it; it may hold references and keywords that
 * cannot be taken apart.
 */
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { issueFor, issueOf, type ShapeIssue } from "./issue.ts";
import { branchesByConstant, discriminantsOf, flatten, type Keywords } from "./keywords.ts";

type Check = (value: unknown) => boolean;

/** One schema and its check, compiled at the first use. */
export class Shape {
  readonly #schema: TSchema;
  readonly #compile: (schema: TSchema) => Check;
  #check: Check | undefined;

  private constructor(schema: TSchema, compile: (schema: TSchema) => Check) {
    this.#schema = schema;
    this.#compile = compile;
  }

  /** The shape of a schema made of this room's building blocks; one per schema object. */
  static of(schema: TSchema): Shape {
    return cached(houseShapes, schema, () => new Shape(schema, (whole) => checkOf(whole as Keywords)));
  }

  /** The shape of an application's schema; one per schema object. */
  static ofApplication(schema: TSchema): Shape {
    return cached(applicationShapes, schema, () => new Shape(schema, compileWhole));
  }

  /** Whether the value satisfies the schema. */
  matches(value: unknown): boolean {
    this.#check ??= this.#compile(this.#schema);
    return this.#check(value);
  }

  /** What is wrong with the value, its paths beginning with `path`; `undefined` when nothing is. */
  issue(value: unknown, path: string): ShapeIssue | undefined {
    if (this.matches(value)) return undefined;
    // An application's own schema may use a keyword that issueOf does not read; then the whole value is the place.
    return issueOf(this.#schema, value, path) ?? issueFor(path, "a value of its schema", value);
  }
}

const houseShapes = new WeakMap<TSchema, Shape>();
const applicationShapes = new WeakMap<TSchema, Shape>();

function cached(shapes: WeakMap<TSchema, Shape>, schema: TSchema, make: () => Shape): Shape {
  let shape = shapes.get(schema);
  if (!shape) {
    shape = make();
    shapes.set(schema, shape);
  }
  return shape;
}

function compileWhole(schema: TSchema): Check {
  const validator = Compile(schema);
  return (value) => validator.Check(value);
}

/** A look-up for a union with a discriminant, a compiled function for everything else. */
function checkOf(schema: Keywords): Check {
  return lookUpOf(schema) ?? compileWhole(withPartsOutlined(schema) as TSchema);
}

/** The check of a union through its discriminant; `undefined` when no property tells the branches apart. */
function lookUpOf(schema: Keywords): Check | undefined {
  if (!schema.anyOf) return undefined;
  const branches = flatten(schema);
  for (const discriminant of discriminantsOf(branches)) {
    const groups = branchesByConstant(branches, discriminant);
    if ([...groups.values()].some((group) => group.length === branches.length)) continue;
    const members = new Map([...groups].map(([constant, group]) => [constant, shapeOfGroup(group)]));
    return (value) => {
      if (typeof value !== "object" || value === null) return false;
      return members.get((value as Record<string, unknown>)[discriminant])?.matches(value) ?? false;
    };
  }
  return undefined;
}

function shapeOfGroup(group: Keywords[]): Shape {
  const [only, ...others] = group;
  return Shape.of((only && others.length === 0 ? only : { anyOf: group }) as TSchema);
}

/** A copy of the schema in which every part with a check of its own is a call of that check. */
function withPartsOutlined(schema: Keywords): Keywords {
  const copy: Keywords = { ...schema };
  // The spread leaves out what TypeBox keeps non-enumerable; of that, only a refinement takes part in a check.
  if (schema["~refine"]) copy["~refine"] = schema["~refine"];
  if (schema.anyOf) copy.anyOf = schema.anyOf.map(outlined);
  if (schema.items) copy.items = outlined(schema.items);
  if (schema.properties) {
    copy.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, property]) => [key, outlined(property)]),
    );
  }
  return copy;
}

function outlined(schema: Keywords): Keywords {
  const isPart = schema.type === "object" || (schema.anyOf && lookUpOf(schema));
  if (!isPart) return schema.anyOf || schema.items ? withPartsOutlined(schema) : schema;
  const shape = Shape.of(schema as TSchema);
  return { "~refine": [{ check: (value) => shape.matches(value), error: () => "a value of its schema" }] };
}
