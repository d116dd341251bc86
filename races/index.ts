/**
 * The races, one a file, in the order of the catalogue: first its own rows, then the pairs that the rest of the
 * specification implies. `crashproof races` runs both orders of each; `crashproof list` prints this list.
 */
import type { Race } from "../src/faults/index.ts";
import abortVsAbort from "./abort-vs-abort.ts";
import abortVsAfterResponse from "./abort-vs-after-response.ts";
import abortVsAfterTool from "./abort-vs-after-tool.ts";
import abortVsCompaction from "./abort-vs-compaction.ts";
import abortVsNavigation from "./abort-vs-navigation.ts";
import abortVsRunEndFollowUp from "./abort-vs-run-end-follow-up.ts";
import abortVsSettlement from "./abort-vs-settlement.ts";
import abortVsSuspension from "./abort-vs-suspension.ts";
import abortVsThreshold from "./abort-vs-threshold.ts";
import abortVsToolResult from "./abort-vs-tool-result.ts";
import appendVsAcceptance from "./append-vs-acceptance.ts";
import cancelVsConsumption from "./cancel-vs-consumption.ts";
import closeVsAcceptance from "./close-vs-acceptance.ts";
import closeVsParked from "./close-vs-parked.ts";
import closeVsSettlement from "./close-vs-settlement.ts";
import compactionVsAppend from "./compaction-vs-append.ts";
import createLaneVsCreateLane from "./create-lane-vs-create-lane.ts";
import endOutsideVsSettlement from "./end-outside-vs-settlement.ts";
import endOutsideVsTerminal from "./end-outside-vs-terminal.ts";
import followUpVsFinish from "./follow-up-vs-finish.ts";
import forkVsCommit from "./fork-vs-commit.ts";
import nextRunVsAcceptance from "./next-run-vs-acceptance.ts";
import promptVsPrompt from "./prompt-vs-prompt.ts";
import resumeVsResume from "./resume-vs-resume.ts";
import setModelVsGeneration from "./set-model-vs-generation.ts";
import setRetryVsGeneration from "./set-retry-vs-generation.ts";
import setStreamOptionsVsGeneration from "./set-stream-options-vs-generation.ts";
import setThinkingVsGeneration from "./set-thinking-vs-generation.ts";
import setToolsVsGeneration from "./set-tools-vs-generation.ts";
import steerVsAbort from "./steer-vs-abort.ts";
import steerVsConsumption from "./steer-vs-consumption.ts";
import takeoverVsCommit from "./takeover-vs-commit.ts";
import writeVsAbort from "./write-vs-abort.ts";

export const RACES: readonly Race[] = [
  promptVsPrompt,
  abortVsSettlement,
  abortVsToolResult,
  abortVsRunEndFollowUp,
  cancelVsConsumption,
  setModelVsGeneration,
  abortVsCompaction,
  abortVsNavigation,
  abortVsThreshold,
  nextRunVsAcceptance,
  compactionVsAppend,
  writeVsAbort,
  closeVsParked,
  closeVsSettlement,
  steerVsAbort,
  steerVsConsumption,
  followUpVsFinish,
  setThinkingVsGeneration,
  setToolsVsGeneration,
  setRetryVsGeneration,
  setStreamOptionsVsGeneration,
  appendVsAcceptance,
  endOutsideVsSettlement,
  endOutsideVsTerminal,
  createLaneVsCreateLane,
  abortVsAbort,
  abortVsSuspension,
  abortVsAfterResponse,
  abortVsAfterTool,
  resumeVsResume,
  closeVsAcceptance,
  forkVsCommit,
  takeoverVsCommit,
];

/** The race of a name, or undefined. */
export function raceByName(name: string): Race | undefined {
  return RACES.find((race) => race.name === name);
}
