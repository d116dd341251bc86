/**
 * Agreement: views that must be equal, are. "Backends agree", "drives agree", "simulation agrees with reality".
 *
 * Checks: of several views of what should be one state, the first that differs from the first one, and where. Does not
 * check that the common state is right: equal and wrong passes here, and is for the other checkers.
 *
 * Drives of one subject must agree byte for byte (`exact`), backends in everything but sequence numbers, ids and
 * downtimes (`canonical`).
 */

import type { Violation } from "./checker.ts";
import { compareViews, describeDifference } from "./compare-views.ts";
import type { View } from "./contract.ts";

/** What is compared, and how the reader knows it. */
export interface AgreementQuestion {
  readonly checker:
    | "backends-agree"
    | "drives-agree"
    | "simulation-agrees"
    | "reopen-agrees"
    | "recovery-restartable";
  readonly by: keyof View;
  /** Views by the name of where each came from: a subject, a drive, `simulated` and `killed`. At least two. */
  readonly views: readonly { readonly name: string; readonly view: View }[];
}

/** Every view that differs from the first one. */
export function disagreements({ checker, by, views }: AgreementQuestion): readonly Violation[] {
  const [first, ...others] = views;
  if (first === undefined || others.length === 0) {
    throw new RangeError(`${checker} compares at least two views; ${views.length} were given`);
  }
  return others.flatMap(({ name, view }) => {
    const difference = compareViews(first.view[by], view[by]);
    if (difference === undefined) return [];
    return [
      {
        checker,
        signature: `${checker}: ${signatureOf(difference.pointer)}`,
        message: `${name} differs from ${first.name} ${describeDifference(difference)}`,
      },
    ];
  });
}

/** The place of a difference without its indexes, so that one defect has one signature. */
export function signatureOf(pointer: string): string {
  const place = pointer.split("/").filter((part) => part !== "" && !/^\d+$/.test(part));
  return place.length === 0 ? "the whole" : place.join("/");
}
