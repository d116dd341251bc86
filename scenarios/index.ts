/**
 * The workloads, one a file, in the order in which a newcomer would read them. `crashproof list` prints this list.
 */
import type { Scenario } from "../src/faults/index.ts";
import abortBesideOtherCalls from "./abort-beside-other-calls.ts";
import abortBesideSafeTool from "./abort-beside-safe-tool.ts";
import abortCompaction from "./abort-compaction.ts";
import abortNavigation from "./abort-navigation.ts";
import abortThreshold from "./abort-threshold.ts";
import abortWhileAnswering from "./abort-while-answering.ts";
import abortWhilePolling from "./abort-while-polling.ts";
import abortWhileSuspended from "./abort-while-suspended.ts";
import abortWhileToolRuns from "./abort-while-tool-runs.ts";
import abortWhileWaiting from "./abort-while-waiting.ts";
import compact from "./compact.ts";
import compactAtCap from "./compact-at-cap.ts";
import compactByHook from "./compact-by-hook.ts";
import compactDeclined from "./compact-declined.ts";
import compactRetry from "./compact-retry.ts";
import compactThenAbort from "./compact-then-abort.ts";
import deferredAfterTools from "./deferred-after-tools.ts";
import deferredError from "./deferred-error.ts";
import deferredMismatch from "./deferred-mismatch.ts";
import deferredPendingTwice from "./deferred-pending-twice.ts";
import deferredReady from "./deferred-ready.ts";
import deferredTools from "./deferred-tools.ts";
import deferredTruncated from "./deferred-truncated.ts";
import everyCharacter from "./every-character.ts";
import followUpAtTheEnd from "./follow-up-at-the-end.ts";
import goesOnAtTheEnd from "./goes-on-at-the-end.ts";
import largeResult from "./large-result.ts";
import navigate from "./navigate.ts";
import navigateByHook from "./navigate-by-hook.ts";
import navigateDeclined from "./navigate-declined.ts";
import navigateNothingToSummarize from "./navigate-nothing-to-summarize.ts";
import navigateSummary from "./navigate-summary.ts";
import navigateSummaryFails from "./navigate-summary-fails.ts";
import nextRun from "./next-run.ts";
import nextRunWithdrawn from "./next-run-withdrawn.ts";
import noteBesideAFailure from "./note-beside-a-failure.ts";
import noteWhileAnswering from "./note-while-answering.ts";
import notesBeside from "./notes-beside.ts";
import oneTurn from "./one-turn.ts";
import overflowByHook from "./overflow-by-hook.ts";
import overflowDeclined from "./overflow-declined.ts";
import overflowEmpty from "./overflow-empty.ts";
import overflowError from "./overflow-error.ts";
import overflowReported from "./overflow-reported.ts";
import overflowShortLength from "./overflow-short-length.ts";
import overflowSummaryRetry from "./overflow-summary-retry.ts";
import overflowTwice from "./overflow-twice.ts";
import parallelTools from "./parallel-tools.ts";
import parallelWithRefusals from "./parallel-with-refusals.ts";
import redeployedTools from "./redeployed-tools.ts";
import steerAfterAFailure from "./steer-after-a-failure.ts";
import steerAllAtOnce from "./steer-all-at-once.ts";
import steerOneAtATime from "./steer-one-at-a-time.ts";
import steerWhileCompacting from "./steer-while-compacting.ts";
import steerWhileToolRuns from "./steer-while-tool-runs.ts";
import steerWithdrawn from "./steer-withdrawn.ts";
import terminatingTool from "./terminating-tool.ts";
import threshold from "./threshold.ts";
import thresholdByHook from "./threshold-by-hook.ts";
import thresholdDeclined from "./threshold-declined.ts";
import thresholdEmpty from "./threshold-empty.ts";
import thresholdOnce from "./threshold-once.ts";
import thresholdSummaryFails from "./threshold-summary-fails.ts";
import toolError from "./tool-error.ts";
import truncatedCalls from "./truncated-calls.ts";
import twoTools from "./two-tools.ts";
import writeWhileToolRuns from "./write-while-tool-runs.ts";
import writesBetweenRuns from "./writes-between-runs.ts";

export const SCENARIOS: readonly Scenario[] = [
  oneTurn,
  twoTools,
  parallelTools,
  parallelWithRefusals,
  toolError,
  truncatedCalls,
  terminatingTool,
  redeployedTools,
  notesBeside,
  largeResult,
  everyCharacter,
  deferredReady,
  deferredPendingTwice,
  deferredTools,
  deferredTruncated,
  deferredMismatch,
  deferredError,
  deferredAfterTools,
  steerWhileToolRuns,
  followUpAtTheEnd,
  goesOnAtTheEnd,
  steerOneAtATime,
  steerAllAtOnce,
  steerWithdrawn,
  steerAfterAFailure,
  noteBesideAFailure,
  writeWhileToolRuns,
  noteWhileAnswering,
  writesBetweenRuns,
  nextRun,
  nextRunWithdrawn,
  abortWhileAnswering,
  abortWhileToolRuns,
  abortBesideSafeTool,
  abortBesideOtherCalls,
  abortWhileWaiting,
  abortWhilePolling,
  abortWhileSuspended,
  compact,
  compactDeclined,
  compactByHook,
  compactRetry,
  compactAtCap,
  compactThenAbort,
  threshold,
  thresholdDeclined,
  thresholdByHook,
  thresholdEmpty,
  thresholdSummaryFails,
  thresholdOnce,
  overflowError,
  overflowReported,
  overflowShortLength,
  overflowTwice,
  overflowEmpty,
  overflowDeclined,
  overflowByHook,
  overflowSummaryRetry,
  navigate,
  navigateSummary,
  navigateByHook,
  navigateDeclined,
  navigateSummaryFails,
  navigateNothingToSummarize,
  steerWhileCompacting,
  abortCompaction,
  abortNavigation,
  abortThreshold,
];

/** The scenario of a name, or undefined. */
export function scenarioByName(name: string): Scenario | undefined {
  return SCENARIOS.find((scenario) => scenario.name === name);
}
