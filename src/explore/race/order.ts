/**
 * One order of a race on one subject: run once, driven by hand, with the calls at the moments of its schedule; proven from
 * the timeline; and then cut at every boundary like any other run.
 *
 * Recovery of a race is not held against the run that nobody cut, because after a death either order may happen, or
 * neither: it is held against the histories of the race. All other judges look on as ever.
 */
import { type Race, type RaceOrder, scheduled, type TimelineEvent, unscheduled } from "../../faults/index.ts";
import type { Subject } from "../../subject/index.ts";
import { type CrashPlan, type CrashSink, exploreCrashes } from "../crash/crash.ts";
import { FINE, together } from "../judgement.ts";
import type { Judgement } from "../result.ts";
import { runIdOf } from "../run-ids.ts";
import type { RunContext } from "../standing.ts";
import { exploreTakeovers } from "../takeover.ts";
import { judgeHistory, unprovenOf } from "./history.ts";

/** What an order is told to. */
export interface OrderSink extends CrashSink {
  /** The run that nobody cuts showed the order. */
  proved?(): void;
}

/** Why a subject cannot run a race, if it cannot. */
export function skippedBecause(race: Race, order: RaceOrder, subject: Subject): string | undefined {
  if (subject.story === undefined) return "its application makes no calls beside a run";
  if (!subject.drives.includes("manual")) return "it cannot be driven by hand";
  if (order.stallsBefore !== undefined && subject.grade !== "multi-writer") {
    return "its store does not know whose session it is, and keeps no second process out";
  }
  return subject.skips?.(scheduled(race, order));
}

/** Runs the order, and cuts it where the plan wants. */
export async function exploreOrder(
  base: RunContext,
  race: Race,
  order: RaceOrder,
  plan: CrashPlan,
  sink: OrderSink,
): Promise<void> {
  const context = contextOf(base, race, order);
  if (order.stallsBefore !== undefined) return exploreTakeover(context, order, sink);
  // What was observed comes after the judgement, and decides of the first run whether it shows anything.
  let uncut: { readonly judgement: Judgement; readonly digest: string | undefined } | undefined;
  let isTold = false;
  const tellUncut = (events: readonly TimelineEvent[]) => {
    if (uncut === undefined) return;
    const unproven = unprovenOf(order, events);
    const { judgement, digest } = uncut;
    uncut = undefined;
    isTold = true;
    sink.judged(together(judgement, unproven ?? FINE), [], digest);
    if (unproven === undefined) sink.proved?.();
  };
  await exploreCrashes(context, plan, {
    ...sink,
    judged: (judgement, path, digest, how) => {
      if (path.length > 0 || isTold) sink.judged(judgement, path, digest, how);
      else uncut = { judgement, digest };
    },
    observed: (path, events) => {
      if (path.length === 0) tellUncut(events);
      sink.observed?.(path, events);
    },
  });
}

/** The order of two processes. The one that stalled is not cut: it is the other one's crash. */
async function exploreTakeover(context: RunContext, order: RaceOrder, sink: OrderSink): Promise<void> {
  const found: Judgement[] = [];
  let events: readonly TimelineEvent[] = [];
  await exploreTakeovers(context, {
    wants: ({ label, occurrence }) => label === order.stallsBefore && occurrence === 1,
    judged: (judgement) => found.push(judgement),
    observed: (_cut, observed) => {
      events = observed;
    },
  });
  const unproven = unprovenOf(order, events);
  const judgement: Judgement = { id: runIdOf(context, "race", []), ...FINE };
  sink.judged(together(judgement, ...found, unproven ?? FINE), [], undefined);
  if (unproven === undefined) sink.proved?.();
  sink.observed?.([], events);
}

/** The context of a race in one of its orders: its scenario, its drive, its judges, its name in run ids. */
function contextOf(base: RunContext, race: Race, order: RaceOrder): RunContext {
  return {
    ...base,
    // Of two processes the judges see first the one and then the other; which order it was is seen from outside.
    subject: judged(base.subject, race, order.stallsBefore === undefined ? order : undefined),
    scenario: order.stallsBefore === undefined ? scheduled(race, order) : unscheduled(race),
    drive: order.stallsBefore === undefined ? "manual" : base.drive,
    isNamed: true,
    order: order.name,
  };
}

/** The subject with the judge of histories beside its own. */
export function judged(subject: Subject, race: Race, order: RaceOrder | undefined): Subject {
  return {
    ...subject,
    judge: (context) => {
      const own = subject.judge(context);
      return context.off.includes("race-history") ? own : judgeHistory(own, subject, race, order);
    },
    expect: async () => ({ canonical: ANYTHING, demands: [] }),
  };
}

/** What recovery must reach is said by the histories. */
const ANYTHING = JSON.stringify({ $any: "value" });
