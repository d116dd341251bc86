/** The JSON report: the result itself (`crashproof-result/1`), one trailing line feed. */
import type { ExploreResult } from "../explore/index.ts";

export function jsonReport(result: ExploreResult): string {
  return `${JSON.stringify(result, null, 2)}\n`;
}
