/**
 * A conformance case: one promise of a contract, as a value that any test runner can register.
 *
 * A suite is a function from what a backend author writes to an array of these. Cases are independent of each other
 * and of the runner: each makes what it needs, asserts with `node:assert/strict`, and cleans up. `run.ts` runs them
 * without a runner, `vitest.ts` registers them with one.
 */

/** One promise, held against one backend. */
export interface ConformanceCase {
  /** The part of the contract: `registers`, `branch scans`, … */
  readonly group: string;
  /** The promise, as a sentence. Unique in its group. */
  readonly name: string;
  /** Where the promise is written down: an invariant of the contract, a section of the specification. */
  readonly cites: string;
  /** Present when the backend does not declare what the case needs: why it is not run. */
  readonly skip?: string;
  /** Resolves if the promise is kept; rejects with what was expected and what was found. */
  run(): Promise<void>;
}
