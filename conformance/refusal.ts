/** Refusals, told by their stable fields and not by their class: an implementation may bring a copy of the package. */
import assert from "node:assert/strict";

/** The fields that a refusal must have. */
export type RefusalFields = Readonly<Record<string, unknown>>;

/** Proves that a call rejects with the fields of the refusal. Answers the error. */
export async function rejectsWith(call: Promise<unknown>, refusal: RefusalFields): Promise<Error> {
  const settled = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const wanted = JSON.stringify(refusal);
  if (!("error" in settled)) assert.fail(`expected a refusal ${wanted}, but the call succeeded`);
  const { error } = settled;
  assert.ok(error instanceof Error, `expected an Error with ${wanted}, found ${String(error)}`);
  for (const [name, expected] of Object.entries(refusal)) {
    const found: unknown = Reflect.get(error, name);
    assert.deepEqual(
      found,
      expected,
      `the refusal must have ${name} ${JSON.stringify(expected)}, found ${JSON.stringify(found)}: ${error.message}`,
    );
  }
  return error;
}
