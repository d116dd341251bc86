/**
 * Torn and damaged bytes: the last commit is damaged in every way that its format has, and bits are flipped in
 * everything that was committed. `trial.ts` says what must hold of each damage.
 *
 * Commits are visited in one walk. The end of a run, closed, is looked at as one commit more where closing changes the
 * files. A commit that was to be damaged and was not is inconclusive.
 */
import { type Boundary, boundaryName } from "../../faults/index.ts";
import type { DiskFile, View } from "../../subject/index.ts";
import { type FaultSink, tellDoubt, tellNothing } from "../fault-sink.ts";
import { doubt } from "../judgement.ts";
import { unlessUnreadable } from "../readable.ts";
import { runIdOf } from "../run-ids.ts";
import { dead, firstStanding, type RunContext, runToEnd, type Standing } from "../standing.ts";
import { type CommitSeen, chooseCommits, surveyCommits, visitCommits } from "./commits.ts";
import type { Damage, DamageBudget } from "./damage.ts";
import { foreignLog } from "./database.ts";
import { damageNamed, damagesOf, flipsOfAll } from "./space.ts";
import { Trials } from "./trial.ts";

/** How much to damage. */
export interface TornPlan extends Omit<DamageBudget, "seed"> {
  /** Only these scenarios, by name; all of the exploration, if absent. */
  readonly scenarios?: readonly string[];
  /** How many commits of a scenario are damaged: all of them if it has no more. */
  readonly commitsMax: number;
  /** Whether a recovery is executed for every damage. */
  readonly recoverEach: boolean;
}

/** Damages the chosen commits of the scenario, and flips bits in what it left in the end. */
export async function exploreTorn(context: RunContext, plan: TornPlan, sink: FaultSink): Promise<void> {
  const places = await unlessUnreadable(() => surveyCommits(context));
  const last = places?.at(-1)?.name;
  const chosen = chooseCommits(places ?? [], plan.commitsMax);
  const visited = new Set(last === undefined ? chosen : [...chosen, last]);
  const budget = { ...plan, seed: context.seed };
  await damageCommits(context, visited, plan.recoverEach, sink, (name, files, foreign) => [
    ...(chosen.has(name) ? damagesOf(files, budget) : []),
    ...(foreign !== undefined && chosen.has(name) ? [foreign] : []),
    ...(name === CLOSED ? damagesOf(files, budget) : []),
    ...(name === last || name === CLOSED ? flipsOfAll(files, budget) : []),
  ]);
}

/** One damage again. Does not call the sink if the run has no such commit, or the commit no such damage. */
export async function tornAgain(
  context: RunContext,
  { commit, damage }: { readonly commit: string; readonly damage: string },
  sink: FaultSink,
): Promise<void> {
  await damageCommits(context, new Set([commit]), true, sink, (name, files, foreign) => {
    // The end of the run is looked at too, and a database has damages of the same names there.
    if (name !== commit) return [];
    const found = foreign?.name === damage ? foreign : damageNamed(files, damage);
    return found === undefined ? [] : [found];
  });
}

/** The damages to do at a commit; `foreign` is that of another session's log, where there are logs. */
type DamagesAt = (name: string, files: readonly DiskFile[], foreign?: Damage) => readonly Damage[];

async function damageCommits(
  context: RunContext,
  chosen: ReadonlySet<string>,
  recoverEach: boolean,
  sink: FaultSink,
  damagesAt: DamagesAt,
): Promise<void> {
  const start = await firstStanding(context);
  if (start.disk.files === undefined) {
    start.disk.dispose();
    return;
  }
  const end = await runToEnd(context, start);
  if (chosen.size === 0 || end.kind !== "settled") {
    start.disk.dispose();
    tellNothing(context, "torn bytes", sink);
    return;
  }
  const damage = async (commit: CommitSeen, foreign: Damage | undefined) => {
    const name = boundaryName(commit.boundary);
    const trials = new Trials(context, commit, end.view, recoverEach);
    for (const one of damagesAt(name, commit.files, foreign)) {
      const fault = `${name}:${one.name}`;
      sink(fault, await trials.try(one, fault));
    }
  };
  const unvisited = new Set(chosen);
  unvisited.delete(CLOSED);
  let others: readonly DiskFile[] | undefined;
  await unlessUnreadable(() =>
    visitCommits(
      context,
      (name) => chosen.has(name),
      async (commit) => {
        const { files } = commit;
        // Throws if the other session cannot be read; so the commit counts as visited only once it was damaged.
        const isLogged = files.some(({ format }) => format.kind === "frames");
        if (isLogged) others ??= await filesOfAnother(context);
        const foreign = foreignLog(files, others ?? []);
        if (isLogged && foreign === undefined) tellUndamaged(context, boundaryName(commit.boundary), sink);
        await damage(commit, foreign);
        unvisited.delete(boundaryName(commit.boundary));
      },
    ),
  );
  const closed = closedBy(start, end.view);
  // Closing changes the files of a database alone, which has its log in it then.
  if (closed.files.some(({ format }) => format.kind === "pages")) await damage(closed, undefined);
  start.disk.dispose();
  for (const name of unvisited) tellUndamaged(context, name, sink);
}

/** A commit that was chosen and was not damaged, or not in every way. */
function tellUndamaged(context: RunContext, commit: string, sink: FaultSink): void {
  const id = runIdOf(context, "walk", []);
  const message = `${commit} was to be damaged, and the run, or the one of another session, never came to it, or left what could not be read, or no log`;
  tellDoubt(sink, commit, id, doubt("not-reached", message));
}

/** What a run left that came to its end and was closed, as a last commit of which nothing is behind the others. */
function closedBy(ended: Standing, view: View): CommitSeen {
  const left = dead(ended, { boundary: CLOSING, position: "after" });
  const files = ended.disk.files?.() ?? [];
  return {
    boundary: CLOSING,
    before: left,
    previous: view,
    after: left,
    complete: view,
    files,
    earlier: new Set(),
  };
}

/** The end of a run, in the place of a commit. */
const CLOSING: Boundary = { kind: "commit", label: "closed", occurrence: 1 };
const CLOSED = boundaryName(CLOSING);

/** What the same scenario leaves under another seed: another session. */
async function filesOfAnother(context: RunContext): Promise<readonly DiskFile[]> {
  let left: readonly DiskFile[] = [];
  await visitCommits(
    { ...context, seed: context.seed + 1 },
    () => true,
    async ({ files }) => {
      left = files;
    },
  );
  return left;
}
