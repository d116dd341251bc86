/**
 * Exploring crashes of one scenario on one subject: run it once, walk it once, and cut it everywhere.
 *
 * The run that nobody cuts comes first: it is the reference, and it is judged like any other. Each cut then goes on
 * from its own standing, is judged, and is held against what the specification demands there. With depth, a recovery
 * is itself run, walked and cut; its reference is the recovery that was not cut again (design §3.6).
 */
import { createHash } from "node:crypto";
import type { Violation } from "../../checkers/index.ts";
import { compareViews, describeDifference } from "../../checkers/index.ts";
import {
  type Cut,
  type CutRef,
  formatRunId,
  type RunKind,
  refOf,
  type TimelineEvent,
  World,
} from "../../faults/index.ts";
import { VirtualClock } from "../../foundation/index.ts";
import type { RecoveryExpectation, View } from "../../subject/index.ts";
import type { Judgement } from "../result.ts";
import {
  firstStanding,
  forkStanding,
  type LifeEnd,
  type RunContext,
  runToEnd,
  type Standing,
  viewOf,
} from "../standing.ts";
import { walk } from "./walk.ts";

/** Which cuts to make, and what to tell of them. */
export interface CrashPlan {
  /** Deaths in one run: 1 cuts the scenario, 2 cuts each recovery again, … */
  readonly depth: number;
  /** Cuts so far and the one in question: whether to make it. */
  wants(path: readonly CutRef[], cut: CutRef): boolean;
  /** Whether all that is wanted has been made, so that walks may stop early. */
  enough(): boolean;
}

/** Takes what is found, as it is found. */
export interface CrashSink {
  saw(path: readonly CutRef[], cut: CutRef): void;
  /** A run is about to go on from a cut; for holding the simulated death against a real one. */
  dying?(path: readonly CutRef[], standing: Standing, atCut: () => Promise<View>): Promise<void>;
  /** `digest` is of the recovered canonical view, for agreement between backends. */
  judged(judgement: Judgement, path: readonly CutRef[], digest: string | undefined): void;
  /** What was observed in a run, from its first boot to its end. */
  observed?(path: readonly CutRef[], events: readonly TimelineEvent[]): void;
}

/** See the module header. Resolves to the reference, unless the uninterrupted run did not settle. */
export async function exploreCrashes(
  context: RunContext,
  plan: CrashPlan,
  sink: CrashSink,
): Promise<View | undefined> {
  const world = new World(context.scenario, new VirtualClock());
  const start = await firstStanding(context, world);
  const end = await runToEnd(context, forkStanding(start, context.folder));
  const judgement = judge(runIdOf(context, "walk", []), end);
  sink.judged(judgement, [], end.kind === "settled" ? digestOf(end.view) : undefined);
  sink.observed?.([], end.events);
  if (end.kind === "settled") await explore(context, plan, sink, start, end.view, []);
  start.disk.dispose();
  return end.kind === "settled" ? end.view : undefined;
}

/** Walks from `start` and judges every wanted death; recurses while there is depth left. */
async function explore(
  context: RunContext,
  plan: CrashPlan,
  sink: CrashSink,
  start: Standing,
  reference: View,
  path: readonly CutRef[],
): Promise<void> {
  const end = await walk(context, start, {
    seen: (cut) => sink.saw(path, refOf(cut)),
    wants: (cut) => plan.wants(path, refOf(cut)),
    enough: () => plan.enough(),
    visit: (standing) => recover(context, plan, sink, standing, reference, path),
  });
  if (end === undefined) return;
  // The walk is the same run as the reference; if it is not, something undeclared decides what happens.
  const drift = driftOf(end, reference);
  if (drift !== undefined) sink.judged({ id: runIdOf(context, "crash", path), ...drift }, path, undefined);
}

async function recover(
  context: RunContext,
  plan: CrashPlan,
  sink: CrashSink,
  standing: Standing,
  reference: View,
  path: readonly CutRef[],
): Promise<void> {
  const cut = standing.cuts.at(-1) as Cut;
  const here = [...path, refOf(cut)];
  const id = runIdOf(context, "crash", here);
  const atCut = () => viewOf(context, standing);
  await sink.dying?.(here, standing, atCut);
  const again = here.length < plan.depth ? forkStanding(standing, context.folder) : undefined;
  const expectation = await context.subject.expect({
    scenario: context.scenario,
    cut,
    atCut,
    uninterrupted: reference,
  });
  const end = await runToEnd(context, standing);
  const judgement = judge(id, end);
  const differs = end.kind === "settled" ? differencesOf(expectation, end.view) : [];
  const digest = end.kind === "settled" ? digestOf(end.view) : undefined;
  sink.judged({ ...judgement, violations: [...judgement.violations, ...differs] }, here, digest);
  sink.observed?.(here, [...standing.events, ...end.events]);
  standing.disk.dispose();
  if (again !== undefined) {
    if (end.kind === "settled") await explore(context, plan, sink, again, end.view, here);
    again.disk.dispose();
  }
}

/** The judgement of a life's end, whatever it was. */
export function judge(id: string, end: LifeEnd): Judgement {
  switch (end.kind) {
    case "settled":
      return { id, violations: end.violations };
    case "refused":
      return { id, violations: [refusal(end.error)] };
    case "cap-reached":
      return {
        id,
        violations: [],
        inconclusive: {
          signature: "cap-reached",
          message: "the run crossed more boundaries than its cap allows",
        },
      };
    case "stalled":
      return {
        id,
        violations: [],
        inconclusive: {
          signature: "stalled",
          message: "the run stood still: it waits for something that never comes",
        },
      };
  }
}

/** Recovery did not reach what the specification demands (design §3.5). */
function differencesOf({ canonical, demands }: RecoveryExpectation, { canonical: found }: View): Violation[] {
  const difference = compareViews(canonical, found);
  if (difference === undefined) return [];
  const place = difference.pointer.replaceAll(/\d+/g, "*");
  const demanded =
    demands.length === 0 ? "the run that nobody cut" : `what is demanded there (${demands.join(", ")})`;
  return [
    {
      checker: "recovery-equality",
      signature: `differs:${place}`,
      message: `recovery did not reach ${demanded}: ${describeDifference(difference)}`,
    },
  ];
}

/** The system threw where it should have gone on. */
function refusal(error: unknown): Violation {
  const { name, message } = error instanceof Error ? error : { name: "unknown", message: String(error) };
  const reason =
    typeof error === "object" && error !== null && "reason" in error ? `:${String(error.reason)}` : "";
  return {
    checker: "recovery",
    signature: `refused:${name}${reason}`,
    message: `the run ended with ${name}: ${message}`,
  };
}

function driftOf(end: LifeEnd, reference: View): Omit<Judgement, "id"> | undefined {
  if (end.kind === "settled" && end.view.exact === reference.exact) return undefined;
  const message =
    end.kind === "settled"
      ? "the same run, walked, left another state: something undeclared decides what happens"
      : `the same run, walked, ended as ${end.kind}`;
  return { violations: [{ checker: "determinism", signature: "walk-differs", message }] };
}

/** A short stand-in for a canonical view. Most recoveries reach the same one, so the last digest is kept. */
export function digestOf({ canonical }: View): string {
  if (canonical !== lastDigest.canonical) {
    lastDigest = { canonical, digest: createHash("sha256").update(canonical).digest("base64") };
  }
  return lastDigest.digest;
}

let lastDigest = { canonical: "", digest: "" };

/** The id of a run of this context. */
export function runIdOf(
  { scenario, subject, seed }: RunContext,
  kind: RunKind,
  cuts: readonly CutRef[],
): string {
  return formatRunId({ kind, scenario: scenario.name, subject: subject.id, cuts, seed });
}
