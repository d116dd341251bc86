/** Progress on stderr: a bar on a terminal, elsewhere a plain line for each group that is over. */
import { SingleBar } from "cli-progress";
import type { Progress } from "../explore/index.ts";
import type { Streams } from "./streams.ts";

export interface ProgressView {
  readonly update: (progress: Progress) => void;
  readonly stop: () => void;
}

/** Starts showing progress; without streams shows nothing. */
export function startProgress(streams: Streams | undefined): ProgressView {
  if (streams === undefined) return { update: () => undefined, stop: () => undefined };
  return streams.isTerminal ? bar() : plainLines(streams);
}

function bar(): ProgressView {
  const view = new SingleBar({ format: "{group}  {value} states", hideCursor: true, clearOnComplete: true });
  let isShown = false;
  const stop = () => {
    if (isShown) view.stop();
    isShown = false;
    process.off("exit", stop);
  };
  // Whoever ends it by hand gets his cursor back too.
  process.once("exit", stop);
  return {
    update: ({ group, runCount }) => {
      if (!isShown) view.start(Number.MAX_SAFE_INTEGER, 0, { group });
      isShown = true;
      view.update(runCount, { group });
    },
    stop,
  };
}

function plainLines(streams: Streams): ProgressView {
  return {
    update: ({ group, runCount, isOver }) => {
      if (isOver === true) streams.err(`${group}: ${runCount} states\n`);
    },
    stop: () => undefined,
  };
}
