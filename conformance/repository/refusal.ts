/** Refusals of a repository, told by their stable fields. */
import assert from "node:assert/strict";

/** The fields that a refusal must have. */
export type RepositoryRefusal = { readonly code: string } & Readonly<Record<string, unknown>>;

/** Proves that a call rejects with the fields of the refusal. Answers the error. */
export async function rejectsWith(call: Promise<unknown>, refusal: RepositoryRefusal): Promise<Error> {
  const settled = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in settled)) assert.fail(`expected a refusal ${JSON.stringify(refusal)}, but it succeeded`);
  const { error } = settled;
  assert.ok(error instanceof Error, `expected an Error, found ${String(error)}`);
  for (const [name, expected] of Object.entries(refusal)) {
    const found: unknown = (error as unknown as Record<string, unknown>)[name];
    assert.deepEqual(found, expected, `the refusal's ${name}: ${error.name}: ${error.message}`);
  }
  return error;
}
