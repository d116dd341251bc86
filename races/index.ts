/**
 * The races, one a file, in the order of the catalogue: first its own rows, then the pairs that the rest of the
 * specification implies. `crashproof races` runs both orders of each; `crashproof list` prints this list.
 */
import type { Race } from "../src/faults/index.ts";
import abortVsSettlement from "./abort-vs-settlement.ts";
import abortVsToolResult from "./abort-vs-tool-result.ts";
import promptVsPrompt from "./prompt-vs-prompt.ts";

export const RACES: readonly Race[] = [promptVsPrompt, abortVsSettlement, abortVsToolResult];

/** The race of a name, or undefined. */
export function raceByName(name: string): Race | undefined {
  return RACES.find((race) => race.name === name);
}
