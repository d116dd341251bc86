/**
 * A worker: a thread that explores units of a plan, one after another, as it is told. It knows the plan and makes the
 * units of it itself; only their names and their records pass between it and the exploration.
 */
import { parentPort, workerData } from "node:worker_threads";
import { type Clock, RealClock } from "../../foundation/index.ts";
import { KillPool, type ProgramHooks } from "../../subprocess/index.ts";
import type { ExploreHost } from "../plan.ts";
import { runUnit, unitsOf } from "../units/families.ts";
import { Watchdog } from "../watchdog.ts";
import { planOf, type Subjects } from "./plan-data.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./protocol.ts";

/** Explores until it is told to end. */
export async function serveUnits(subjects: Subjects, hooks: ProgramHooks): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error("the program of a worker was started without one");
  const { plan: data, folder, killProgram, contenderProgram } = workerData as WorkerStart;
  const plan = planOf(data, subjects);
  const units = new Map(unitsOf(plan).map((unit) => [unit.id, unit]));
  const clock = new RealClock();
  const say = (message: FromWorker) => port.postMessage(message);
  const killPool = killProgram && newKillPool(killProgram, clock);
  const host: ExploreHost = {
    clock,
    folder,
    ...(killPool === undefined ? {} : { killPool }),
    ...(contenderProgram === undefined ? {} : { contenderProgram }),
    progress: (progress) => say({ progress }),
  };
  const watchdog = new Watchdog(clock);
  const explore = async (id: string) => {
    const unit = units.get(id);
    if (unit === undefined) throw new Error(`the plan has no unit ${id}`);
    say({ record: await runUnit(plan, unit, host, watchdog) });
    hooks.warmed();
  };
  port.on("message", (message: ToWorker) => {
    if ("unit" in message) {
      explore(message.unit).catch((error: unknown) => say({ failed: wordsOf(error) }));
      return;
    }
    watchdog.stop();
    void Promise.resolve(killPool?.close()).then(() => port.close());
  });
}

/**
 * Children that die for an exploration. There is always one at a time: how many sessions a child takes, and so how many
 * processes are killed, does not depend on how many explore.
 */
export function newKillPool(program: NonNullable<WorkerStart["killProgram"]>, clock: Clock): KillPool {
  return new KillPool({ program, clock, childCount: 1 });
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
