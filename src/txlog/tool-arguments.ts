/**
 * The arguments of a call, from the text that the model wrote.
 *
 * The file keeps the model's text as it came; what is started, stored and replayed are the parsed arguments. They must
 * be an object that the file can hold: lone surrogates, infinities and bottomless depth make them invalid before any
 * effect, because a result whose intent cannot be stored could not be recorded (spec §3.8, duty 5).
 */
import { admitJson } from "../foundation/index.ts";
import { isObject, type JsonObject } from "./values.ts";

/** The parsed arguments, or nothing if they are invalid. */
export function parseArguments(text: string): JsonObject | undefined {
  try {
    // Minus zero is a number that comes back as another one; it means zero in every tool.
    const value: unknown = JSON.parse(text, (_key, member) => (Object.is(member, -0) ? 0 : member));
    return isObject(value) ? admitJson(value) : undefined;
  } catch {
    return undefined;
  }
}
