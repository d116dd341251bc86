/** Progress on stderr: a bar on a terminal, a plain line for each group elsewhere. */
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
  let started = false;
  return {
    update: ({ group, runCount }) => {
      if (!started) view.start(Number.MAX_SAFE_INTEGER, 0, { group });
      started = true;
      view.update(runCount, { group });
    },
    stop: () => {
      if (started) view.stop();
    },
  };
}

function plainLines(streams: Streams): ProgressView {
  let current: Progress | undefined;
  const flush = () => {
    if (current !== undefined) streams.err(`${current.group}: ${current.runCount} states\n`);
  };
  return {
    update: (progress) => {
      if (progress.group !== current?.group) flush();
      current = progress;
    },
    stop: flush,
  };
}
