/**
 * The plan of a command that looks at one family of faults: nothing is cut for its own sake, no process is killed, and
 * what the family is to do is all that the command adds.
 */
import type { Command } from "commander";
import type { ExplorePlan } from "../explore/index.ts";
import { checkersOf } from "./names.ts";
import { type CommonOptions, withCommonOptions, withOff } from "./options.ts";
import { VERSION } from "./version.ts";

/** Options of every command that looks at one family. */
export interface FamilyOptions extends CommonOptions {
  readonly off: readonly string[];
}

/** Adds them to a command. */
export function withFamilyOptions(command: Command): Command {
  return withOff(withCommonOptions(command));
}

/** See the module header. `line`: the command line, for the head of the result. */
export function familyPlan(
  { seed, off }: FamilyOptions,
  line: string,
  family: Pick<ExplorePlan, "scenarios" | "subjects"> & Partial<ExplorePlan>,
): ExplorePlan {
  return {
    seed,
    depth: 1,
    skip: [],
    checkersOff: checkersOf(off),
    kill: "none",
    cuts: false,
    version: VERSION,
    command: line,
    ...family,
  };
}
