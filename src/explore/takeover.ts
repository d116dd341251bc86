/**
 * Takeover: an owner stalls before a commit for longer than its claim lasts, another process takes the session over
 * and finishes the work, and then the first one wakes up and goes on where it stood.
 *
 * For each commit of the scenario, twice: the owner wakes up while the other process holds the session, and after that
 * one has let go of it. A store that asks whether somebody else holds the session, and not whether the owner itself does,
 * is right in one of the two cases only. `stale-owner.ts` says what must hold. Only for subjects of the grade
 * `multi-writer`: the others promise nothing here.
 */
import { type Boundary, boundaryName, type CutRef, type TimelineEvent } from "../faults/index.ts";
import { doubt, FINE, judge, together } from "./judgement.ts";
import { exactTextOf } from "./readable.ts";
import type { Judgement } from "./result.ts";
import { runIdOf } from "./run-ids.ts";
import { brokenByWaking, WAKES, type Wake, type Woken } from "./stale-owner.ts";
import {
  boot,
  DOWNTIME_MS,
  endOf,
  firstStanding,
  forkStanding,
  type Life,
  quiet,
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
  // Owners begin on copies of one new disk: making one costs some stores more than a whole run.
  const start = await firstStanding(context);
  try {
    await takeOverFrom(context, start, sink);
  } finally {
    start.disk.dispose();
  }
}

async function takeOverFrom(context: RunContext, start: Standing, sink: TakeoverSink): Promise<void> {
  const { commits, end } = await commitsOf(context, start);
  for (const [commitIndex, commit] of commits.entries()) {
    if (!sink.wants(commit)) continue;
    const trials: Trial[] = [];
    for (const wake of WAKES)
      trials.push(await tryTakeover(context, start, { cut: commit, commitIndex, wake }));
    const [first, ...more] = trials;
    if (first === undefined) continue;
    sink.judged(together(first.judgement, ...more.map(({ judgement }) => judgement)), first.cut);
    const events = trials.flatMap((trial) => trial.events);
    sink.observed?.(first.cut, events);
  }
  if (end === "stalled") {
    sink.judged(judge(runIdOf(context, "walk", []), { kind: "stalled", events: [] }), undefined);
  }
}

/** Before which commits the run can be stalled: all of them, up to where it stands still. */
async function commitsOf(
  context: RunContext,
  start: Standing,
): Promise<{ readonly commits: CutRef[]; readonly end: "over" | "stalled" }> {
  const commits: CutRef[] = [];
  const { end, leave } = await ownerAt(context, start, (boundary) => {
    commits.push(cutBefore(boundary));
    return false;
  });
  leave();
  return { commits, end: end === "stalled" ? end : "over" };
}

function cutBefore({ label, occurrence }: Boundary): CutRef {
  return { label, occurrence, position: "before" };
}

/** One takeover, judged. */
interface Trial {
  readonly cut: CutRef;
  readonly judgement: Judgement;
  readonly events: readonly TimelineEvent[];
}

/** An owner that stands before the commit of that index. */
async function tryTakeover(
  context: RunContext,
  start: Standing,
  { cut, commitIndex, wake }: { cut: CutRef; commitIndex: number; wake: Wake },
): Promise<Trial> {
  let commitsSeen = 0;
  const { owner, end, standing, leave } = await ownerAt(context, start, () => commitsSeen++ === commitIndex);
  try {
    if (typeof end === "object")
      return await takeOver(context, standing, { owner, boundary: end, cut, wake });
    // The run came by this commit a moment ago.
    const message = `started once more, the owner ${end === "stalled" ? "stood still before" : "never came to"} this commit`;
    const judgement = { id: runIdOf(context, "takeover", [cut]), ...doubt("not-reached", message) };
    return { cut, judgement, events: [] };
  } finally {
    leave();
  }
}

/** A first life that crosses everything until it comes to a commit at which it is to stop. */
async function ownerAt(context: RunContext, start: Standing, stops: (commit: Boundary) => boolean) {
  const standing = forkStanding(start, context.folder);
  const owner = boot(context, standing, { open: false });
  const leave = () => {
    owner.gate.drop();
    owner.incarnation.drop();
    standing.disk.dispose();
  };
  const { gate } = owner;
  for (;;) {
    const how = await quiet(context, owner);
    const boundary = gate.parked[0];
    if (how === "stalled") return { owner, standing, leave, end: how };
    if (boundary === undefined) return { owner, standing, leave, end: "over" as const };
    if (boundary.kind === "commit" && stops(boundary)) return { owner, standing, leave, end: boundary };
    gate.release(boundary);
  }
}

interface Stalled {
  readonly owner: Life;
  readonly boundary: Boundary;
  readonly cut: CutRef;
  readonly wake: Wake;
}

async function takeOver(
  context: RunContext,
  standing: Standing,
  { owner, boundary, cut, wake }: Stalled,
): Promise<Trial> {
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
  let woken: Woken | undefined;
  const wakeUp = async () => {
    woken = await wakeOwner(context, next, owner);
  };
  const life = boot(context, next, { open: true });
  const end = await (wake === "held" ? endOf(context, next, life, wakeUp) : endOf(context, next, life));
  if (wake === "released" && end.kind === "settled") await wakeUp();
  const judgement = judge(id, end);
  const events = [...ownersEvents, ...end.events, ...owner.timeline.events.slice(ownersEvents.length)];
  if (woken === undefined) return { cut, judgement, events };
  const violations = brokenByWaking(`an owner that woke up before ${boundaryName(boundary)}`, wake, woken);
  const stalled = doubt("stalled", "the stale owner neither failed nor finished");
  const more = woken.end === "unknown" ? stalled : FINE;
  return { cut, judgement: together(judgement, { violations }, more), events };
}

async function wakeOwner(context: RunContext, standing: Standing, owner: Life): Promise<Woken> {
  const before = await exactTextOf(viewOf(context, standing));
  const rowCount = standing.world.rows.length;
  owner.gate.open();
  const how = await context.watchdog.guard(
    () => owner.gate.crossedCount,
    owner.incarnation.life.then(
      () => "went on" as const,
      () => "was told" as const,
    ),
  );
  const isChanged = (await exactTextOf(viewOf(context, standing))) !== before;
  const end = how === "stalled" ? "unknown" : how;
  return { end, isChanged, isOutside: standing.world.rows.length > rowCount };
}
