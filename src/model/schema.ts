/**
 * The few building blocks from which every schema of this room is made.
 *
 * Objects of the harness's own making are *closed*: an unknown key in a register means that another program, or
 * a newer one, wrote it, and acting on half-understood state is worse than refusing it. Messages are *open*
 * (plain `Type.Object`), because providers and old session files add keys that nobody here reads.
 *
 * Only the schema keywords used here and in the sibling files are understood by `issue.ts`, which locates the
 * offending value after a compiled check failed. A new keyword needs a case there; its test compares the two.
 */
import { type TObject, type TProperties, Type } from "typebox";

/** An object with exactly these properties. */
export function closed<Properties extends TProperties>(properties: Properties): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false });
}

/** A type parameter that must be `true`: `type _ = Holds<Same<A, B>>` fails to compile when A and B differ. */
export type Holds<Fact extends true> = Fact;
/** Whether two types are the same in both directions. */
export type Same<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : false) : false;

/** An id, a name or another reference that is never empty (spec §1.2). */
export const NonEmptyString = Type.String({ minLength: 1 });

/** Sequence numbers, token limits, indexes and Unix milliseconds: 0 up to 2^53 - 1. */
export const SafeCount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Attempts, which are counted from 1. */
export const SafeOrdinal = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** An entry id, or `null` for the root of the tree. */
export const NullableId = Type.Union([NonEmptyString, Type.Null()]);

/** A list of entry, usage or tool identifiers. */
export const IdList = Type.Array(NonEmptyString);
