/**
 * Takeover: an owner stalls before a commit for longer than its claim lasts, another process takes the session over
 * and finishes the work, and then the first one wakes up and goes on where it stood.
 *
 * For each commit of the scenario. Its commit must be refused and leave nothing; it must be told, and must do nothing
 * more outside. Only for subjects of the grade `multi-writer`: the others promise nothing here.
 */
import type { Violation } from "../checkers/index.ts";
import { type Boundary, boundaryName, type CutRef, type TimelineEvent, World } from "../faults/index.ts";
import { VirtualClock } from "../foundation/index.ts";
import { runIdOf } from "./crash/crash.ts";
import { judge } from "./judgement.ts";
import type { Judgement } from "./result.ts";
import {
  boot,
  DOWNTIME_MS,
  endOf,
  firstStanding,
  type Life,
  type RunContext,
  type Standing,
  viewOf,
} from "./standing.ts";

/** What a takeover is told to. */
export interface TakeoverSink {
  /** Whether to stall at this commit. */
  wants(cut: CutRef): boolean;
  /** `cut` is undefined for an owner that stood still on the way, so that its later commits were not looked at. */
  judged(judgement: Judgement, cut: CutRef | undefined): void;
  /** What was observed: of the owner until it stalled, of the process that took over, of the owner again. */
  observed?(cut: CutRef, events: readonly TimelineEvent[]): void;
}

/** Stalls the owner before each wanted commit in turn. */
export async function exploreTakeovers(context: RunContext, sink: TakeoverSink): Promise<void> {
  for (let commitIndex = 0; ; commitIndex++) {
    const standing = await firstStanding(context, new World(context.scenario, new VirtualClock()));
    const owner = boot(context, standing, { open: false });
    const boundary = await stallBefore(context, owner, commitIndex);
    if (boundary === "stalled") {
      sink.judged(judge(runIdOf(context, "walk", []), { kind: "stalled", events: [] }), undefined);
    } else if (boundary !== undefined) {
      const cut: CutRef = { label: boundary.label, occurrence: boundary.occurrence, position: "before" };
      if (sink.wants(cut)) await takeOver(context, standing, owner, boundary, cut, sink);
    }
    owner.gate.drop();
    owner.incarnation.drop();
    standing.disk.dispose();
    if (boundary === undefined || boundary === "stalled") return;
  }
}

/** Crosses everything before the commit of that index; undefined if the run has no more commits. */
async function stallBefore(
  { watchdog }: RunContext,
  { gate, incarnation }: Life,
  commitIndex: number,
): Promise<Boundary | "stalled" | undefined> {
  for (let commitsSeen = 0; ; ) {
    const quiet = await watchdog.guard(() => gate.crossedCount, gate.quiet(incarnation.life));
    if (quiet === "stalled") return quiet;
    const boundary = gate.parked[0];
    if (boundary === undefined) return undefined;
    if (boundary.kind === "commit" && commitsSeen++ === commitIndex) return boundary;
    gate.release(boundary);
  }
}

async function takeOver(
  context: RunContext,
  standing: Standing,
  owner: Life,
  boundary: Boundary,
  cut: CutRef,
  sink: TakeoverSink,
): Promise<void> {
  const id = runIdOf(context, "takeover", [cut]);
  const { world } = standing;
  const atMs = world.clock.now();
  world.clock.step(DOWNTIME_MS);
  const next: Standing = {
    ...standing,
    judge: standing.judge.fork(),
    cuts: [{ boundary, position: "before" }],
    downtimes: [{ atMs, durationMs: DOWNTIME_MS }],
  };
  const ownersEvents = [...owner.timeline.events];
  const end = await endOf(context, next, boot(context, next, { open: true }));
  const judgement = judge(id, end);
  if (end.kind !== "settled") {
    sink.judged(judgement, cut);
    sink.observed?.(cut, [...ownersEvents, ...end.events]);
    return;
  }

  const rowCount = world.rows.length;
  owner.gate.open();
  const owned = await context.watchdog.guard(
    () => owner.gate.crossedCount,
    owner.incarnation.life.then(
      () => "went on" as const,
      () => "was told" as const,
    ),
  );
  const after = await viewOf(context, next).catch((error: unknown) => ({ exact: `unreadable: ${error}` }));
  const where = `woke up before ${boundaryName(boundary)} after another process had taken the session over`;
  const broken: Violation[] = [];
  const breaks = (signature: string, message: string) => {
    broken.push({ checker: "single-writer", signature, message: `an owner that ${where} ${message}` });
  };
  if (after.exact !== end.view.exact) breaks("stale-commit-accepted", "changed what is durable");
  if (owned === "went on") breaks("stale-owner-not-told", "was not refused");
  if (world.rows.length > rowCount) breaks("stale-owner-acted", "started a new effect");
  const stalled = { signature: "stalled", message: "the stale owner neither failed nor finished" };
  sink.judged(
    {
      id,
      violations: [...judgement.violations, ...broken],
      ...(owned === "stalled" ? { inconclusive: stalled } : {}),
    },
    cut,
  );
  sink.observed?.(cut, [...ownersEvents, ...end.events, ...owner.timeline.events.slice(ownersEvents.length)]);
}
