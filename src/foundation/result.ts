/**
 * Results and tagged errors: what a caller is expected to handle.
 *
 * Three kinds of failure run through the project, each with a type of its own. A `Result` carries a refusal that
 * the caller handles (`LaneBusy`, `NothingToResume`). A `Corruption` (see `corruption.ts`) reports a stored state
 * that no correct writer can have left. A fault (see `storage/contract.ts`) reports a commit that failed.
 *
 * Implements spec §5.1 and message-types §13.
 */

/** Either a value, or an error that the caller is expected to handle. */
export type Result<T, E> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

/** Wraps a value as a success. */
export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** Wraps an error as an expected failure. */
export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** Narrows a result to its success. */
export function isOk<T, E>(result: Result<T, E>): result is { readonly ok: true; readonly value: T } {
  return result.ok;
}

/** Narrows a result to its failure. */
export function isErr<T, E>(result: Result<T, E>): result is { readonly ok: false; readonly error: E } {
  return !result.ok;
}

/** An error with a stable `_tag`, a message, and the fields that its tag promises. */
export type Tagged<Tag extends string, Fields extends object = Record<never, never>> = Error & {
  readonly _tag: Tag;
  toJSON(): { _tag: Tag; message: string } & Fields;
} & Readonly<Fields>;

/** The class that {@link TaggedError} makes: constructed from a message and the fields. */
export interface TaggedErrorClass<Tag extends string, Fields extends object> {
  new (args: { message: string } & Fields): Tagged<Tag, Fields>;
  readonly tag: Tag;
  /** Whether a value is an error of this tag, also across copies of the package. */
  is(value: unknown): value is Tagged<Tag, Fields>;
}

/**
 * Makes the class of one expected error. `name` equals the tag; the fields stand on the error itself; `toJSON` gives
 * `_tag`, `message` and the fields.
 */
export function TaggedError<Tag extends string>(
  tag: Tag,
): <Fields extends object = Record<never, never>>() => TaggedErrorClass<Tag, Fields> {
  return <Fields extends object>() => {
    class Made extends Error {
      static readonly tag = tag;
      static is(value: unknown): boolean {
        return value instanceof Error && (value as { _tag?: unknown })._tag === tag;
      }
      readonly _tag = tag;
      readonly #fields: Fields;
      constructor({ message, ...fields }: { message: string } & Fields) {
        super(message);
        this.name = tag;
        this.#fields = fields as unknown as Fields;
        Object.assign(this, fields);
      }
      toJSON(): { _tag: Tag; message: string } & Fields {
        return { _tag: tag, message: this.message, ...this.#fields };
      }
    }
    return Made as unknown as TaggedErrorClass<Tag, Fields>;
  };
}

/** The end of an exhaustive switch: a case that the type says cannot be. Reaching it is a defect of the program. */
export function absurd(value: never, what = "case"): never {
  throw new Error(`unreachable ${what}: ${JSON.stringify(value)}`);
}
