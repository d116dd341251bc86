/** Every checker that the command line knows: the subjects' own, and the explorers'. */
import { HARNESS_CHECKS, TXLOG_CHECKS } from "../checkers/index.ts";
import { EXPLORER_CHECKS, type ExplorerCheck } from "../explore/index.ts";

export const CHECKS: readonly ExplorerCheck[] = [...HARNESS_CHECKS, ...TXLOG_CHECKS, ...EXPLORER_CHECKS];
