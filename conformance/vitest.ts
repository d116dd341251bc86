/**
 * Registers conformance cases with vitest. The one file of this room that knows a test runner:
 *
 * ```ts
 * import { createStorageConformance } from "crashproof/conformance";
 * import { registerConformance } from "crashproof/vitest";
 * registerConformance(createStorageConformance(myFactory));
 * ```
 */
import { describe, it } from "vitest";
import type { ConformanceCase } from "./case.ts";

/** One `describe` a group, one test a case; a skipped case is reported with its reason. */
export function registerConformance(cases: readonly ConformanceCase[]): void {
  for (const group of new Set(cases.map((one) => one.group))) {
    describe(group, () => {
      for (const one of cases) {
        if (one.group !== group) continue;
        it(one.name, (context) => (one.skip === undefined ? one.run() : context.skip(one.skip)));
      }
    });
  }
}
