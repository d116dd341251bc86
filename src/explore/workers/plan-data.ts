/** A plan as plain JSON: subjects by their ids, everything else as it is. Any process that knows the subjects has the plan. */
import type { Subject } from "../../subject/index.ts";
import type { ExplorePlan } from "../plan.ts";

export interface PlanData extends Omit<ExplorePlan, "subjects"> {
  readonly subjects: readonly string[];
}

/** How a process finds the subjects of a plan. */
export type Subjects = (id: string) => Subject | undefined;

export function dataOf({ subjects, ...plan }: ExplorePlan): PlanData {
  return { ...plan, subjects: subjects.map(({ id }) => id) };
}

/** The plan again; throws if it has a subject that is not known here. */
export function planOf({ subjects, ...plan }: PlanData, known: Subjects): ExplorePlan {
  return {
    ...plan,
    subjects: subjects.map((id) => {
      const subject = known(id);
      if (subject === undefined) throw new RangeError(`no subject is called ${JSON.stringify(id)} here`);
      return subject;
    }),
  };
}
