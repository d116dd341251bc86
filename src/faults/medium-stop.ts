/**
 * A medium that stops in the middle of a commit: how a torn commit is made in a live process, so that a real kill can
 * leave what a simulated one leaves.
 *
 * A process that dies while it writes leaves the bytes that the medium had taken by then. No outsider can time a kill
 * to a byte, so the medium is told where to stop: it takes that many bytes of the commit, says so, and from then on
 * takes nothing more, whatever the runtime asks of it. Whoever asked for the stop kills the process then.
 */
import type { Boundary } from "./boundary.ts";

/** Where a medium stops; see the module header. */
export interface MediumStop {
  /** The commit. */
  readonly at: Pick<Boundary, "label" | "occurrence">;
  /** Bytes of it that the medium takes. */
  readonly bytesWritten: number;
  /** Called once, when exactly these bytes are on the medium. The commit then never settles, or fails. */
  reached(): void;
}

/** Whether the medium stops in this commit. */
export function stopsIn(stop: MediumStop | undefined, boundary: Boundary): stop is MediumStop {
  return (
    stop !== undefined &&
    boundary.kind === "commit" &&
    boundary.label === stop.at.label &&
    boundary.occurrence === stop.at.occurrence
  );
}
