/** A life of a fuzz case in which the medium fails, and what it leaves for the next one, on a healed medium. */
import { type Cut, MediumFault, type MediumFaultKind } from "../../faults/index.ts";
import type { ToldOfCall } from "../../subject/index.ts";
import { copyOf } from "../disk-faults/course.ts";
import { faultName } from "../disk-faults/fault-name.ts";
import { lastCut, NOT_FIRED, toldBy } from "../disk-faults/trial.ts";
import { doubt, FINE, type Finding } from "../judgement.ts";
import { dead, type LifeEnd, type RunContext, restarted, type Standing } from "../standing.ts";
import { live, type Schedule } from "./lives.ts";
import type { FaultPlan } from "./plan.ts";

/** What a failing medium led to. */
export interface DiskFailed {
  readonly finding: Finding;
  readonly next: Standing;
  readonly told: readonly ToldOfCall[];
}

/** Lets one call of the medium fail, or all from one on; undefined if the life makes no such call. */
export async function failDisk(
  context: RunContext,
  standing: Standing,
  schedule: Schedule,
  { which, at, isLasting }: Extract<FaultPlan, { fault: "disk" }>,
): Promise<DiskFailed | undefined> {
  const life = standing.cuts.length === 0 ? "first" : "next";
  const kinds = (context.subject.mediumFaults ?? []).filter(({ lives }) => lives.includes(life));
  const kind = kinds[which % kinds.length];
  if (kind === undefined) return undefined;
  const callCount = await countCalls(context, standing, schedule, new MediumFault(kind, life, 0, false));
  if (callCount === 0) return undefined;
  const call = Math.floor((at * callCount) / 1000) + 1;
  const fault = new MediumFault(kind, life, call, isLasting);
  const failing = copyOf(standing, context.folder);
  const { end, told } = await live(context, failing, schedule, { mediumFault: fault });
  const name = faultName({ life, kind: kind.name, isLasting, call });
  const left = dead(failing, lastCut(end.events) ?? beginning(kind));
  const crash = { kind: "crash", at: name } as const;
  const next = restarted({ ...left, events: [...standing.events, ...end.events, crash] });
  return { finding: fault.hasFired ? findingOf(end) : NOT_FIRED, next, told };
}

async function countCalls(
  context: RunContext,
  standing: Standing,
  schedule: Schedule,
  mediumFault: MediumFault,
): Promise<number> {
  const copy = copyOf(standing, context.folder);
  await live(context, copy, schedule, { mediumFault });
  copy.disk.dispose();
  return mediumFault.callCount;
}

/** What the life itself shows: who was told, and whether it went on. What it left, the next one shows. */
function findingOf(end: LifeEnd): Finding {
  switch (end.kind) {
    case "settled":
      return toldBy({ kind: "done" }, end.events);
    case "refused":
      return toldBy(end, end.events);
    case "unreadable":
      // Read while it still fails, perhaps; the next life reads it again.
      return FINE;
    case "cap-reached":
    case "stalled":
      return doubt(end.kind, "the failing life did not end");
  }
}

/** Where a life stood in which nothing had happened. */
function beginning({ name }: MediumFaultKind): Cut {
  return { boundary: { kind: "commit", label: name, occurrence: 1 }, position: "before" };
}
