/**
 * The workloads, one a file, in the order in which a newcomer would read them. `crashproof list` prints this list.
 */
import type { Scenario } from "../src/faults/index.ts";
import deferredAfterTools from "./deferred-after-tools.ts";
import deferredError from "./deferred-error.ts";
import deferredMismatch from "./deferred-mismatch.ts";
import deferredPendingTwice from "./deferred-pending-twice.ts";
import deferredReady from "./deferred-ready.ts";
import deferredTools from "./deferred-tools.ts";
import deferredTruncated from "./deferred-truncated.ts";
import largeResult from "./large-result.ts";
import oneTurn from "./one-turn.ts";
import parallelTools from "./parallel-tools.ts";
import redeployedTools from "./redeployed-tools.ts";
import steerWhileToolRuns from "./steer-while-tool-runs.ts";
import terminatingTool from "./terminating-tool.ts";
import toolError from "./tool-error.ts";
import twoTools from "./two-tools.ts";

export const SCENARIOS: readonly Scenario[] = [
  oneTurn,
  twoTools,
  parallelTools,
  toolError,
  terminatingTool,
  redeployedTools,
  largeResult,
  deferredReady,
  deferredPendingTwice,
  deferredTools,
  deferredTruncated,
  deferredMismatch,
  deferredError,
  deferredAfterTools,
  steerWhileToolRuns,
];

/** The scenario of a name, or undefined. */
export function scenarioByName(name: string): Scenario | undefined {
  return SCENARIOS.find((scenario) => scenario.name === name);
}
