/**
 * Exploring crashes of one scenario on one subject: run it once, walk it once, and cut it everywhere.
 *
 * The run that nobody cuts comes first: it is the reference, and it is judged like any other. Each death is then gone on
 * from (`recoveries.ts`), judged, and held against what the specification demands there. With depth, a recovery
 * is itself run, walked and cut; its reference is the recovery that was not cut again (design §3.6). Without depth that
 * is done where a recovery makes a commit that nothing made before it (`second-deaths.ts`).
 *
 * A walk stops where the reference does not, so of two things that are under way at once another may come first. At the
 * beginning of a run nothing is, and any difference is drift. In a recovery calls start side by side: there a walk may end
 * otherwise if it ends so again, and if the judges and the specification allow that end too.
 */
import { createHash } from "node:crypto";
import { isExactlySame, Known } from "../../checkers/index.ts";
import { type CutRef, refOf, type TimelineEvent } from "../../faults/index.ts";
import type { RecoveryExpectation, View } from "../../subject/index.ts";
import { violationsOf } from "../checks.ts";
import { doubt, type Finding, findingOf, judge, together } from "../judgement.ts";
import type { HowRecovered, Judgement } from "../result.ts";
import { runIdOf } from "../run-ids.ts";
import {
  firstStanding,
  forkStanding,
  type LifeEnd,
  type RunContext,
  runToEnd,
  type Standing,
} from "../standing.ts";
import type { Death } from "./death.ts";
import { Recoveries, RepeatedSample } from "./recoveries.ts";
import { expectationOf, Left, recoveryOf } from "./recovery.ts";
import { RowsMade, SecondCuts } from "./second-deaths.ts";
import { walk } from "./walk.ts";

/** Which cuts to make, and what to tell of them. */
export interface CrashPlan {
  /** Deaths in one run: 1 cuts the scenario, 2 cuts each recovery again, … */
  readonly depth: number;
  /** Cuts so far and the one in question: whether to make it. */
  wants(path: readonly CutRef[], cut: CutRef): boolean;
  /** Whether all that is wanted has been made, so that walks may stop early. */
  enough(): boolean;
  /** Whether rows that recoveries alone make are cut in them; see `second-deaths.ts`. Of no use with depth. */
  readonly secondDeaths: boolean;
  /** Whether a recovery is executed for every death, also where several left the very same. */
  readonly recoverEach: boolean;
}

/** Takes what is found, as it is found. */
export interface CrashSink {
  saw(path: readonly CutRef[], cut: CutRef): void;
  /**
   * `digest` is of the recovered canonical view, for agreement between backends; `how` says how the recovery is known, of
   * a run that had one.
   */
  judged(judgement: Judgement, path: readonly CutRef[], digest: string | undefined, how?: HowRecovered): void;
  /** What was observed in a run, from its first boot to its end. */
  observed?(path: readonly CutRef[], events: readonly TimelineEvent[]): void;
}

/** See the module header. Resolves to the reference, unless the uninterrupted run did not settle. */
export async function exploreCrashes(
  context: RunContext,
  plan: CrashPlan,
  sink: CrashSink,
): Promise<View | undefined> {
  const start = await firstStanding(context);
  const end = await runToEnd(context, forkStanding(start, context.folder));
  const judgement = judge(runIdOf(context, "walk", []), end);
  const reference = end.kind === "settled" ? end.view : undefined;
  const seen = { left: new Known(), reached: new Known() };
  sink.judged(judgement, [], reference && digestOf(seen.reached.firstLike(reference)));
  sink.observed?.([], end.events);
  const sample = plan.recoverEach ? undefined : new RepeatedSample();
  if (end.kind === "settled") {
    const made = new RowsMade(context.subject.rows, end.labels);
    await explore({ context, plan, sink, seen, sample, made }, start, end.view, []);
  }
  start.disk.dispose();
  return reference;
}

/** One exploration: what stays the same from cut to cut. */
interface Exploration {
  readonly context: RunContext;
  readonly plan: CrashPlan;
  readonly sink: CrashSink;
  /** Views that deaths left and that recoveries reached, one of each kind. */
  readonly seen: { readonly left: Known; readonly reached: Known };
  /** Undefined: nothing is shared. */
  readonly sample: RepeatedSample | undefined;
  readonly made: RowsMade;
}

/** What the specification demands after a death, where it is known. */
type Expectation = RecoveryExpectation | string | undefined;

/** Walks from `start` and judges every wanted death; recurses while there is depth left. */
async function explore(
  exploration: Exploration,
  start: Standing,
  reference: View,
  path: readonly CutRef[],
  expectation?: Expectation,
): Promise<void> {
  const { context, plan, sink } = exploration;
  const recoveries = new Recoveries(context, exploration.sample);
  const isTorn = start.disk.size() !== undefined;
  const again = expectation === undefined ? undefined : forkStanding(start, context.folder);
  let commitCount = 0;
  let tearCount = 0;
  const end = await walk(context, start, {
    seen: (cut) => {
      if (cut.boundary.kind === "commit" && cut.position === "before") commitCount++;
      if (cut.bytesWritten !== undefined) tearCount++;
      sink.saw(path, refOf(cut));
    },
    wants: (cut) => plan.wants(path, refOf(cut)),
    enough: () => plan.enough(),
    visit: (death) => recover(exploration, recoveries, death, reference, path),
  });
  // The walk is the same run as the reference; if it is not, something undeclared decides what happens.
  let drift = end && driftOf(end, reference);
  if (drift !== undefined && (await isAnotherOrder(context, end, again, expectation))) drift = undefined;
  again?.disk.dispose();
  if (end === undefined) return;
  const kind = path.length === 0 ? "walk" : "crash";
  const id = runIdOf(context, kind, path);
  if (drift !== undefined) sink.judged({ ...drift, id }, path, undefined);
  // Of a disk whose commits can be torn, some must have been.
  if (path.length === 0 && isTorn && commitCount > 0 && tearCount === 0) {
    const message = `commits of this disk can be torn, and none of ${commitCount} was`;
    sink.judged({ id, ...doubt("fault-not-fired", message) }, path, undefined);
  }
}

async function recover(
  exploration: Exploration,
  recoveries: Recoveries,
  death: Death,
  reference: View,
  path: readonly CutRef[],
): Promise<void> {
  const { context, plan, sink, seen } = exploration;
  const { cut, left: standing } = death;
  const here = [...path, refOf(cut)];
  const id = runIdOf(context, "crash", here);
  const like = recoveries.like(death);
  const left = new Left(context, standing, seen.left, like.earlier?.left);
  const expectation = await left.ask((atCut) => expectationOf(context, cut, atCut, reference));
  const { end, how, finding } = await recoveries.from(death, like, left);
  // What is asked of what was reached is asked of its canonical text, and nearly all recoveries reach the same one.
  const reached = end.kind === "settled" ? seen.reached.firstLike(end.view) : undefined;
  const judgement = together(judge(id, end), left.finding, recoveryOf(expectation, reached), finding);
  sink.judged(judgement, here, reached && digestOf(reached), how);
  sink.observed?.(here, [...standing.events, ...end.events]);
  if (end.kind !== "settled") return;
  if (here.length < plan.depth) await dieAgain(exploration, death, end.view, here, expectation);
  if (plan.secondDeaths) {
    const rows = exploration.made.newOf(end.labels);
    if (rows.length > 0) await dieAgain(cutting(exploration, rows), death, end.view, here, expectation);
  }
}

/** Cuts the recovery from a death. */
async function dieAgain(
  exploration: Exploration,
  death: Death,
  recovered: View,
  here: readonly CutRef[],
  expectation: Expectation,
): Promise<void> {
  const again = death.fork();
  await explore(exploration, again, recovered, here, expectation);
  again.disk.dispose();
}

/** The exploration of a recovery that is cut at these rows only. */
function cutting(exploration: Exploration, rows: readonly string[]): Exploration {
  const { plan, sink } = exploration;
  const cuts = new SecondCuts(plan, rows);
  const saw: CrashSink["saw"] = (path, cut) => {
    if (cuts.isNew(cut)) sink.saw(path, cut);
  };
  return { ...exploration, plan: cuts.plan, sink: { ...sink, saw } };
}

/** Whether a walk of a recovery may have ended as it did, where that is not how the reference ended; see the header. */
async function isAnotherOrder(
  context: RunContext,
  end: LifeEnd | undefined,
  again: Standing | undefined,
  expectation: Expectation,
): Promise<boolean> {
  if (end?.kind !== "settled" || again === undefined || expectation === undefined) return false;
  const findings = [findingOf(end), recoveryOf(expectation, end.view)];
  if (findings.some(({ violations, inconclusive }) => violations.length > 0 || inconclusive)) return false;
  const nothing = { seen: () => {}, wants: () => false, enough: () => false, visit: async () => {} };
  const repeated = await walk(context, again, nothing);
  return repeated?.kind === "settled" && isExactlySame(repeated.view, end.view);
}

function driftOf(end: LifeEnd, reference: View): Finding | undefined {
  if (end.kind === "settled" && isExactlySame(end.view, reference)) return undefined;
  // The reference came to its end, so this is drift too; but a run that was stopped shows nothing for certain.
  if (end.kind === "stalled" || end.kind === "cap-reached") return findingOf(end);
  const message =
    end.kind === "settled"
      ? "the same run, walked, left another state: something undeclared decides what happens"
      : `the same run, walked, ended as ${end.kind}`;
  return { violations: [violationsOf("determinism")("walk-differs", message)] };
}

/** A short stand-in for a canonical view, made once for a view. */
export function digestOf(view: View): string {
  const known = digests.get(view);
  if (known !== undefined) return known;
  const digest = createHash("sha256").update(view.canonical).digest("base64");
  digests.set(view, digest);
  return digest;
}

const digests = new WeakMap<View, string>();
