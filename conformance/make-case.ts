/** How a suite makes a case of a promise: over something that is made for it, and disposed of after it. */
import type { ConformanceCase } from "./case.ts";

/** What a case is made over. */
export interface Disposable {
  dispose?(): Promise<void>;
}

/** @param missing what the implementation of this name would have to declare for the case to be run. */
export function caseOver<Subject extends Disposable>(
  promise: Pick<ConformanceCase, "group" | "name" | "cites">,
  implementation: { readonly name: string; readonly missing: readonly string[] },
  make: () => Promise<Subject>,
  body: (subject: Subject) => Promise<void>,
): ConformanceCase {
  const run = async () => {
    const subject = await make();
    try {
      await body(subject);
    } catch (error) {
      // What was found matters more than that something broken cannot be disposed of.
      await subject.dispose?.().catch(() => undefined);
      throw error;
    }
    await subject.dispose?.();
  };
  const { name, missing } = implementation;
  if (missing.length === 0) return { ...promise, run };
  return { ...promise, run, skip: `${name} does not declare ${missing.join(" and ")}` };
}
