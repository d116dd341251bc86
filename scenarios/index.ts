/**
 * The workloads, one a file, in the order in which a newcomer would read them. `crashproof list` prints this list.
 */
import type { Scenario } from "../src/faults/index.ts";
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
  steerWhileToolRuns,
];

/** The scenario of a name, or undefined. */
export function scenarioByName(name: string): Scenario | undefined {
  return SCENARIOS.find((scenario) => scenario.name === name);
}
