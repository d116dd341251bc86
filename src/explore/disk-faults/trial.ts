/**
 * One life in which storage fails, and the next one on a healed disk.
 *
 * What must hold.
 * 1. What is durable when the life has ended is what was durable after its last confirmed commit; or, if a commit failed,
 *    after that one, whole. A store that says that nothing of a failed commit is left must be right.
 * 2. A life in which a commit failed does not go on: nothing more is committed, nothing more happens outside, and whoever
 *    waited for it is told, with the failure that began it.
 * 3. A life in which no commit failed comes to its end as if nothing had been, or refuses, and says why.
 * 4. The next life, in which nothing fails, reaches what it would have reached after a plain death there; the judges, who
 *    saw both lives, find nothing.
 */
import { compareViews, describeDifference, type Violation } from "../../checkers/index.ts";
import { boundaryName, type Cut, type MediumFault, type TimelineEvent } from "../../faults/index.ts";
import type { View } from "../../subject/index.ts";
import { violationsOf } from "../checks.ts";
import { expectationOf, recoveryOf } from "../crash/recovery.ts";
import type { FaultRun } from "../fault-sink.ts";
import { doubt, type Finding, isAccident, judge, refusal, together } from "../judgement.ts";
import type { Judgement } from "../result.ts";
import { boot, dead, type RunContext, restarted, runToEnd, type Standing, viewOf } from "../standing.ts";
import { type Course, copyOf } from "./course.ts";

/** How a life with a fault ended. */
export type Ended =
  | { readonly kind: "done" }
  | { readonly kind: "refused"; readonly error: unknown }
  | { readonly kind: "stalled" | "cap-reached" };

/** Lives the life with the fault, and the next one. `name` is the fault's. */
export async function tryFault(
  context: RunContext,
  course: Course,
  { fault, name, id }: { readonly fault: MediumFault; readonly name: string; readonly id: string },
): Promise<FaultRun> {
  const standing = copyOf(course.start, context.folder);
  try {
    const { ended, events } = await faultyLife(context, standing, fault);
    const observed = [...standing.events, ...events];
    if (!fault.hasFired) return { judgement: { id, ...NOT_FIRED }, isRecovered: false, events: observed };
    if (ended.kind === "stalled" || ended.kind === "cap-reached") {
      return { judgement: judge(id, { ...ended, events: [] }), isRecovered: false, events: observed };
    }
    const told = toldBy(ended, events);
    return await goOn(context, course, { standing, name, id, ended, events, told });
  } finally {
    standing.disk.dispose();
  }
}

/** Counts the calls of a kind in a life in which none of them fails. */
export async function countCalls(context: RunContext, course: Course, fault: MediumFault): Promise<number> {
  const standing = copyOf(course.start, context.folder);
  await faultyLife(context, standing, fault);
  standing.disk.dispose();
  return fault.callCount;
}

async function faultyLife(
  context: RunContext,
  standing: Standing,
  mediumFault: MediumFault,
): Promise<{ readonly ended: Ended; readonly events: readonly TimelineEvent[] }> {
  const { gate, timeline, incarnation } = boot(context, standing, { open: true, mediumFault });
  const done = { kind: "done" } as const;
  const refused = (error: unknown) => ({ kind: "refused", error }) as const;
  const how = await context.watchdog.guard<Ended>(
    () => gate.crossedCount,
    Promise.race([
      gate.dead.then(() => ({ kind: "cap-reached" }) as const),
      incarnation.life.then(() => done, refused),
    ]),
  );
  let ended: Ended = how === "stalled" ? { kind: "stalled" } : how;
  try {
    if (ended.kind === "done") await incarnation.close();
    else incarnation.drop();
  } catch (error) {
    // A process that cannot even let go of a file ends all the same.
    if (ended.kind === "done") ended = refused(error);
  }
  return { ended, events: timeline.events };
}

interface Aftermath {
  readonly standing: Standing;
  readonly name: string;
  readonly id: string;
  readonly ended: Ended;
  readonly events: readonly TimelineEvent[];
  readonly told: Finding;
}

async function goOn(context: RunContext, course: Course, aftermath: Aftermath): Promise<FaultRun> {
  const { standing, name, id, ended, events, told } = aftermath;
  const failed = events.find((event) => event.kind === "commit-failed");
  const cutBefore = lastCut(events) ?? course.since;
  const left = dead(standing, cutBefore);
  const named = { ...left, events: [...standing.events, ...events, { kind: "crash", at: name } as const] };
  let atCut: View;
  try {
    atCut = await viewOf(context, left);
  } catch (error) {
    const unreadable = refusal("unreadable", error, "what the failure left cannot be read:", broken);
    const judgement: Judgement = { id, violations: [...told.violations, unreadable] };
    return { judgement, isRecovered: false, events: named.events };
  }
  const confirmedCount = events.filter(({ kind }) => kind === "commit").length;
  const { finding, isFailedThere } = leftBy(course, atCut, confirmedCount, failed !== undefined, ended);
  const cut: Cut = failed !== undefined && isFailedThere ? { ...cutBefore, position: "after" } : cutBefore;
  const expectation = await expectationOf(context, cut, async () => atCut, course.end);
  const next = restarted({ ...named, judge: standing.judge });
  const end = await runToEnd(context, next);
  const reached = end.kind === "settled" ? end.view : undefined;
  const judgement = together({ id, ...told }, finding, judge(id, end), recoveryOf(expectation, reached));
  return { judgement, isRecovered: true, events: [...next.events, ...end.events] };
}

/** Promise 2 and 3: who is told what. */
export function toldBy(ended: Ended, events: readonly TimelineEvent[]): Finding {
  const violations: Violation[] = [];
  const failedAt = events.findIndex(({ kind }) => kind === "commit-failed");
  if (failedAt >= 0) {
    const failed = events[failedAt];
    const what = failed !== undefined && "boundary" in failed ? boundaryName(failed.boundary) : "a commit";
    if (ended.kind === "done") {
      violations.push(broken("failure not told", `${what} failed, and the life ended as if it had not`));
    }
    const later = events.slice(failedAt + 1).find(({ kind }) => kind === "commit" || kind === "effect");
    if (later !== undefined && "boundary" in later) {
      const did = `${later.kind === "commit" ? "committed" : "started"} ${boundaryName(later.boundary)}`;
      violations.push(
        broken(`went on after a failed commit: ${later.kind}`, `${what} failed, and the life ${did}`),
      );
    }
  }
  if (ended.kind === "refused" && !saysWhy(ended.error)) {
    const what = "the life ended without a named reason, by";
    violations.push(refusal("unexplained", ended.error, what, broken));
  }
  return { violations };
}

/** Promise 1 and 3: what is left. `isFailedThere`: the commit that failed is durable all the same. */
function leftBy(
  { durable, end }: Course,
  atCut: View,
  confirmedCount: number,
  hasFailed: boolean,
  ended: Ended,
): { readonly finding: Finding; readonly isFailedThere: boolean } {
  const confirmed = durable[confirmedCount];
  const isConfirmed = atCut.exact === confirmed?.exact;
  const isFailedThere = hasFailed && !isConfirmed && atCut.exact === durable[confirmedCount + 1]?.exact;
  const violations: Violation[] = [];
  if (isFailedThere && ended.kind === "refused" && saysNothingIsLeft(ended.error)) {
    const message = "the store said that nothing of the failed commit is left, and all of it is durable";
    violations.push(broken("failed commit is there", message));
  } else if (!isConfirmed && !isFailedThere) {
    const earlier = durable.slice(0, confirmedCount).some(({ exact }) => exact === atCut.exact);
    const difference = confirmed === undefined ? undefined : compareViews(confirmed.exact, atCut.exact);
    const where = difference === undefined ? "" : `: ${describeDifference(difference)}`;
    violations.push(
      earlier
        ? broken(
            "confirmed commit lost",
            `what was durable before a confirmed commit is durable again${where}`,
          )
        : broken("left neither", `what is durable is neither with nor without the failed commit${where}`),
    );
  }
  if (!hasFailed && ended.kind === "done" && atCut.exact !== end.exact) {
    violations.push(broken("ended elsewhere", "no commit failed, and the life came to another end"));
  }
  return { finding: { violations }, isFailedThere };
}

/** Where the life stood when it ended; undefined if nothing had happened in it. */
export function lastCut(events: readonly TimelineEvent[]): Cut | undefined {
  const last = events.findLast((event) => "boundary" in event);
  if (last === undefined || !("boundary" in last)) return undefined;
  return { boundary: last.boundary, position: last.kind === "commit-failed" ? "before" : "after" };
}

const broken = violationsOf("failing-storage");

/** The fault was never met. */
export const NOT_FIRED = doubt("fault-not-fired", "the medium was never asked for a call that was to fail");

/** An error and what caused it, outermost first. */
function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let link = error; link !== undefined && !chain.includes(link); link = causeOf(link)) chain.push(link);
  return chain;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

/** Whether the outermost error has a code by which a caller knows it. */
function saysWhy(error: unknown): boolean {
  return (
    error instanceof Error && !isAccident(error) && typeof (error as { code?: unknown }).code === "string"
  );
}

/** Whether somewhere in the chain a store says that the medium was brought back to the last commit. */
function saysNothingIsLeft(error: unknown): boolean {
  return chainOf(error).some(
    (link) => typeof link === "object" && link !== null && "recovered" in link && link.recovered === true,
  );
}
