/** What an exploration and its workers say to each other. All of it is plain data. */
import type { ChildProgram } from "../../subprocess/index.ts";
import type { Progress } from "../plan.ts";
import type { UnitRecord } from "../units/unit.ts";
import type { PlanData } from "./plan-data.ts";

/** What a worker starts with. */
export interface WorkerStart {
  readonly plan: PlanData;
  /** An empty folder of its own. */
  readonly folder: string;
  /** What its children run, if the plan kills. */
  readonly killProgram: ChildProgram | undefined;
  /** What processes run that want one session, if the plan has any. */
  readonly contenderProgram: ChildProgram | undefined;
}

/** To a worker: the unit to explore next; or to end. */
export type ToWorker = { readonly unit: string } | { readonly end: true };

export type FromWorker =
  | { readonly progress: Progress }
  | { readonly record: UnitRecord }
  | { readonly failed: string };
