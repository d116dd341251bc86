/**
 * One exploration from the command line: scratch folder, progress on stderr, report on stdout, JSON on disk, exit code.
 */
import { accessSync, constants, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
import { type ExitCode, exitCodeOf, UsageError } from "./exit.ts";
import type { CommonOptions, ResultOptions } from "./options.ts";
import { withParts } from "./parts.ts";
import { startProgress } from "./progress.ts";
import type { Streams } from "./streams.ts";

/** Explores, reports, and says how it ended. */
export async function runExploration(
  plan: ExplorePlan,
  options: CommonOptions,
  streams: Streams,
): Promise<ExitCode> {
  if (options.json !== undefined) assertWritable(options.json);
  const result = await withParts(plan, options, streams, (parts) =>
    withHost(options, streams, (host) => exploreWith(plan, options, { ...host, ...parts })),
  );
  return report(result, options, streams);
}

/** Tells of a result where it is wanted, and how it ended. */
export function report(result: ExploreResult, { json, times }: ResultOptions, streams: Streams): ExitCode {
  streams.out(terminalReport(result));
  if (json !== undefined) writeWhole(json, jsonReport(result, { times }));
  return exitCodeOf(result);
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

/**
 * Replaces a file whole: no reader ever sees half a result. A device or a pipe is written to, never replaced, and a
 * link stays: what it names is what is replaced.
 */
export function writeWhole(file: string, text: string): void {
  let temporary: string | undefined;
  try {
    const target = targetOf(file);
    if (!target.isReplaceable) {
      writeFileSync(file, text);
      return;
    }
    temporary = join(dirname(target.path), `.${basename(target.path)}.${process.pid}.tmp`);
    writeFileSync(temporary, text);
    renameSync(temporary, target.path);
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    throw unwritable(file, error);
  }
}

/** What stands at a path, links followed: a file or nothing may be replaced; a device, a pipe or a socket must not. */
function targetOf(file: string): { readonly path: string; readonly isReplaceable: boolean } {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return { path: file, isReplaceable: true };
  return { path: realpathSync(file), isReplaceable: found.isFile() };
}

/** Finds out before an exploration of a minute that its result can be kept. */
export function assertWritable(file: string): void {
  try {
    const found = file === "" ? undefined : statSync(file, { throwIfNoEntry: false });
    if (file === "" || found?.isDirectory() === true) {
      throw new Error("expected the path of a file, not of a folder");
    }
    // A file that its owner made read-only is to be kept, though its folder would let it be replaced.
    if (found !== undefined) accessSync(file, constants.W_OK);
    const { path, isReplaceable } = targetOf(file);
    if (!isReplaceable) return;
    const probe = join(dirname(path), `.${basename(path)}.${process.pid}.probe`);
    writeFileSync(probe, "", { flag: "wx" });
    rmSync(probe);
  } catch (error) {
    throw unwritable(file, error);
  }
}

function unwritable(file: string, error: unknown): UsageError {
  const reason = error instanceof Error ? error.message : String(error);
  return new UsageError("UNWRITABLE_OUTPUT", `cannot write the result to ${JSON.stringify(file)}: ${reason}`);
}
