/** Waiting for what should not take long. */
import assert from "node:assert/strict";
import { RealClock } from "../src/foundation/index.ts";

/** What a promise comes to, or a failure that says it has not settled in time. */
export async function soon<T>(promise: Promise<T>, what: string, limitMs = 2_000): Promise<T> {
  const settled = new AbortController();
  const late = new RealClock().sleep(limitMs, settled.signal).then(() => {
    const message = `${what} has not settled after ${limitMs} ms`;
    throw new assert.AssertionError({ message });
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    settled.abort();
  }
}
