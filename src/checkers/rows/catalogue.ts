/**
 * The catalogue: every row, in the order of the specification's tables.
 */
import { ACCEPTANCE_ROWS } from "./acceptance.ts";
import { COMPACTION_ROWS } from "./compaction.ts";
import { DEFERRED_ROWS } from "./deferred.ts";
import { GENERATION_ROWS } from "./generation.ts";
import { LANE_ROWS } from "./lane.ts";
import { NAVIGATION_ROWS } from "./navigation.ts";
import { QUEUE_ROWS } from "./queues.ts";
import type { Row } from "./row.ts";
import { STRUCTURAL_ROWS } from "./structural.ts";
import { TERMINAL_ROWS } from "./terminal.ts";
import { TOOL_ROWS } from "./tools.ts";

export const CATALOGUE: readonly Row[] = [
  ...LANE_ROWS,
  ...ACCEPTANCE_ROWS,
  ...GENERATION_ROWS,
  ...DEFERRED_ROWS,
  ...TOOL_ROWS,
  ...STRUCTURAL_ROWS,
  ...COMPACTION_ROWS,
  ...NAVIGATION_ROWS,
  ...QUEUE_ROWS,
  ...TERMINAL_ROWS,
];
