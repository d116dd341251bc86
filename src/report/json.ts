/**
 * The JSON report: the result itself (`crashproof-result/1`), one trailing line feed.
 *
 * Host times differ from run to run; without them, as 0, equal plans give equal bytes.
 */
import type { ExploreResult } from "../explore/index.ts";

/** Members that hold host times. */
const HOST_TIMES = new Set(["elapsedMs", "perSecond"]);

export function jsonReport(result: ExploreResult, { times = true } = {}): string {
  const timeless = (key: string, value: unknown) => (HOST_TIMES.has(key) ? 0 : value);
  return `${JSON.stringify(result, times ? undefined : timeless, 2)}\n`;
}
