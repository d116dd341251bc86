/**
 * Whether a stored `lane.lastResult` can be the outcome of its kind of operation (spec §3.3).
 *
 * Checked where the public path reads it; recovery never does.
 */
import { Corruption } from "../foundation/index.ts";
import type { LaneLastResult } from "../model/index.ts";

/** @throws Corruption `last_result_mismatch` */
export function checkLastResult(lane: string, result: LaneLastResult): LaneLastResult {
  const problem = problemOf(result);
  if (problem === undefined) return result;
  throw new Corruption("last_result_mismatch", `${problem}; nothing was changed`, {
    subject: `lane.lastResult/${lane}`,
  });
}

function problemOf(result: LaneLastResult): string | undefined {
  const hasAssistant = result.finalAssistantEntryId !== undefined;
  if (result.kind !== "run") {
    if (hasAssistant) return `a ${result.kind} has no final assistant`;
    return result.runCompletion === undefined ? undefined : `a ${result.kind} has no run completion`;
  }
  if (result.outcome === "declined") return "a run is never declined";
  if (result.outcome !== "completed") return undefined;
  if (result.runCompletion === undefined) return "a completed run says how it completed";
  if (result.runCompletion === "assistant") {
    return hasAssistant ? undefined : "a run that an assistant completed names its final assistant";
  }
  return hasAssistant ? "a run that its tools terminated names no final assistant" : undefined;
}
