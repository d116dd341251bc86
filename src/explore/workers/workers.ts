/**
 * Workers: threads that explore the units of a plan side by side. Each takes the next unit as soon as it has done one,
 * so that none waits while there is work.
 *
 * A worker that dies, or that fails, ends the exploration: its unit has no record, and nothing is said without it.
 */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { ChildProgram } from "../../subprocess/index.ts";
import type { ExplorePlan, Progress } from "../plan.ts";
import type { UnitRecord } from "../units/unit.ts";
import { dataOf } from "./plan-data.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./protocol.ts";

export interface WorkersOptions {
  /** How many threads. */
  readonly count: number;
  /** A program that calls `serveUnits` with the subjects of the plan. */
  readonly program: ChildProgram;
  /** What children run, if the plan kills. */
  readonly killProgram?: ChildProgram;
  /** What processes run that want one session, if the plan has any. */
  readonly contenderProgram?: ChildProgram;
  /** An empty folder; each worker has one in it. */
  readonly folder: string;
}

/** Explores the units, and tells of each record as it comes. */
export async function exploreInWorkers(
  plan: ExplorePlan,
  unitIds: readonly string[],
  options: WorkersOptions,
  told: { record(record: UnitRecord): void; progress(progress: Progress): void },
): Promise<void> {
  const queue = [...unitIds];
  const data = dataOf(plan);
  const threads = Array.from({ length: Math.min(options.count, queue.length) }, () => {
    const folder = mkdtempSync(join(options.folder, "worker-"));
    const { killProgram, contenderProgram } = options;
    return threadOf(options, { plan: data, folder, killProgram, contenderProgram });
  });
  try {
    await Promise.all(threads.map((thread) => serve(thread, queue, told)));
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

function threadOf({ program }: WorkersOptions, start: WorkerStart): Worker {
  const { launcher, program: bundle, codeCache, requireFrom } = program;
  // No loader and no option of this process reaches a worker: it runs a bundle.
  return new Worker(launcher, { argv: [bundle, codeCache, requireFrom], execArgv: [], workerData: start });
}

/** Hands one thread unit after unit, until there is none. */
function serve(
  thread: Worker,
  queue: string[],
  told: { record(record: UnitRecord): void; progress(progress: Progress): void },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let current: string | undefined;
    const fail = (why: string) => reject(new Error(`the worker that explored ${current} ${why}`));
    const next = () => {
      current = queue.shift();
      const message: ToWorker = current === undefined ? { end: true } : { unit: current };
      thread.postMessage(message);
    };
    thread.on("message", (message: FromWorker) => {
      if ("progress" in message) told.progress(message.progress);
      else if ("failed" in message) fail(`failed: ${message.failed}`);
      else {
        try {
          told.record(message.record);
          next();
        } catch (error) {
          reject(error);
        }
      }
    });
    thread.on("error", (error) => fail(`failed: ${error instanceof Error ? error.stack : String(error)}`));
    thread.on("exit", (code) => (current === undefined ? resolve() : fail(`ended with code ${code}`)));
    next();
  });
}
