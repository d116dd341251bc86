/**
 * The row of a terminal transaction from elsewhere (spec §4.9): somebody ends an operation that its drive still holds, in
 * whatever phase it stands, and settles nothing of it. No runtime makes it, so it is no row of the catalogue: it is known
 * only while such a call is under way.
 */
import { isOnItsLane, isRunning } from "./facts.ts";
import { RUN_PHASES } from "./phase.ts";
import type { Row } from "./row.ts";
import { terminalWrites } from "./steps.ts";
import { finalAssistant, leavesLaneIdle, resultIs } from "./terminal.ts";

/** The name of the row. */
export const OUTSIDE_ROW = "terminal.outside";

export const OUTSIDE_ROWS: readonly Row[] = [
  {
    name: OUTSIDE_ROW,
    section: "§4.9",
    says: "ended by somebody else: delete, result aborted, idle; nothing is settled",
    from: RUN_PHASES,
    to: ["gone"],
    writes: terminalWrites,
    holds: [
      isOnItsLane,
      isRunning,
      resultIs("aborted, with the newest assistant", ({ before }) => {
        return before === undefined ? undefined : { outcome: "aborted", ...finalAssistant(before) };
      }),
      leavesLaneIdle,
    ],
  },
];
