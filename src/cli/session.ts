/**
 * One exploration from the command line: scratch folder, progress on stderr, report on stdout, JSON in a file, exit code.
 */
import {
  type ExploreHost,
  type ExplorePlan,
  type ExploreResult,
  explore,
  newKillPool,
} from "../explore/index.ts";
import { RealClock } from "../foundation/index.ts";
import { jsonReport, terminalReport } from "../report/index.ts";
import { childProgram, openScratch } from "../subprocess/index.ts";
import { EXIT, type ExitCode, exitCodeOf, reasonOf } from "./exit.ts";
import type { CommonOptions, ResultOptions } from "./options.ts";
import { assertWritable, writeWhole } from "./output.ts";
import { withParts } from "./parts.ts";
import { startProgress } from "./progress.ts";
import type { Streams } from "./streams.ts";

/** Explores, reports, and says how it ended. */
export async function runExploration(
  plan: ExplorePlan,
  options: CommonOptions,
  streams: Streams,
): Promise<ExitCode> {
  if (options.json !== undefined) assertWritable(options.json, options.checkpoint);
  const result = await withParts(plan, options, streams, (parts) =>
    withHost(options, streams, (host) => exploreWith(plan, options, { ...host, ...parts })),
  );
  return report(result, options, streams);
}

/** Tells of a result where it is wanted, and how it ended. */
export function report(result: ExploreResult, { json, times }: ResultOptions, streams: Streams): ExitCode {
  streams.out(terminalReport(result));
  if (json === undefined) return exitCodeOf(result);
  try {
    writeWhole(json, jsonReport(result, { times }));
    return exitCodeOf(result);
  } catch (error) {
    // It could be written when the exploration began: that is no wrong usage, and whoever waits for it has no verdict.
    const file = JSON.stringify(json);
    streams.err(`crashproof itself failed: the result could not be written to ${file}: ${reasonOf(error)}\n`);
    return EXIT.failed;
  }
}

/** Explores with as many workers as are wanted, or in this thread. */
async function exploreWith(
  plan: ExplorePlan,
  { workers: count }: CommonOptions,
  host: ExploreHost,
): Promise<ExploreResult> {
  if (count > 1) {
    const program = await childProgram({ name: "worker" });
    const kills = plan.kill === "none" ? {} : { killProgram: await childProgram() };
    // A worker has no bundler, so what its children run is made here.
    const contends =
      plan.leases === undefined ? {} : { contenderProgram: await childProgram({ name: "contender" }) };
    return explore(plan, { ...host, workers: { count, program, ...kills, ...contends } });
  }
  return plan.kill === "none" ? explore(plan, host) : withKillPool(host, (killing) => explore(plan, killing));
}

/** Runs `work` with a scratch folder and progress, and cleans up after it. */
export async function withHost<T>(
  options: Pick<CommonOptions, "quiet">,
  streams: Streams,
  work: (host: ExploreHost) => Promise<T>,
): Promise<T> {
  const scratch = openScratch();
  const progress = startProgress(options.quiet === true ? undefined : streams);
  try {
    return await work({ clock: new RealClock(), folder: scratch.folder, progress: progress.update });
  } finally {
    progress.stop();
    scratch.remove();
  }
}

/** Runs `work` with a pool of warm children to kill. */
export async function withKillPool<T>(
  host: ExploreHost,
  work: (host: ExploreHost) => Promise<T>,
): Promise<T> {
  const killPool = newKillPool(await childProgram(), host.clock);
  killPool.warm();
  try {
    return await work({ ...host, killPool });
  } finally {
    await killPool.close();
  }
}
