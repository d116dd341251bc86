/**
 * A schema with its compiled check. Compilation takes a millisecond or more, so it happens at the first use:
 * a child process that never validates a navigation never compiles one. Afterwards a check is one call.
 */
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { issueFor, issueOf, type ShapeIssue } from "./issue.ts";

/** One schema, compiled on demand. */
export class Shape {
  readonly #schema: TSchema;
  #check: ((value: unknown) => boolean) | undefined;

  constructor(schema: TSchema) {
    this.#schema = schema;
  }

  /** Whether the value satisfies the schema; compiled at the first call. */
  matches(value: unknown): boolean {
    if (!this.#check) {
      const validator = Compile(this.#schema);
      this.#check = (candidate) => validator.Check(candidate);
    }
    return this.#check(value);
  }

  /** What is wrong with the value, its paths beginning with `path`; `undefined` when nothing is. */
  issue(value: unknown, path: string): ShapeIssue | undefined {
    if (this.matches(value)) return undefined;
    // An application's own schema may use a keyword that issueOf does not read; then the whole value is the place.
    return issueOf(this.#schema, value, path) ?? issueFor(path, "a value of its schema", value);
  }
}

/** A union whose members are compiled one by one, each when a value with its discriminant first comes by. */
export class VariantShape {
  readonly #union: TSchema;
  readonly #discriminant: string;
  readonly #members: ReadonlyMap<unknown, Shape>;

  /** `members` maps each value of the property `discriminant` to the schema of that member of `union`. */
  constructor(union: TSchema, discriminant: string, members: Readonly<Record<string, TSchema>>) {
    this.#union = union;
    this.#discriminant = discriminant;
    this.#members = new Map(Object.entries(members).map(([name, schema]) => [name, new Shape(schema)]));
  }

  /** As `Shape.issue`. */
  issue(value: unknown, path: string): ShapeIssue | undefined {
    const member = isRecord(value) ? this.#members.get(value[this.#discriminant]) : undefined;
    if (member) return member.issue(value, path);
    return issueOf(this.#union, value, path) ?? issueFor(path, "a value of its schema", value);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
