/**
 * Killing for real: each simulated death is held against a process that died there by `kill -9` (design §3.10).
 *
 * Children walk sessions to the cuts and are killed; what is left on each disk must equal the simulated death in the
 * exact state, and so must the world's rows: what one of the two writes too early, too late or never shows here.
 *
 * What it does not show: whether the recovery from there is right. The same state recovers in the same way, and
 * `crash/` judges that.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Violation } from "../../checkers/index.ts";
import { type CutRef, cutRefName, readLedger } from "../../faults/index.ts";
import { seededRandom } from "../../foundation/index.ts";
import type { Subject, View } from "../../subject/index.ts";
import { type KillPool, type KillRequest, ledgerPathOf } from "../../subprocess/index.ts";
import { violationsOf } from "../checks.ts";
import { refusal } from "../judgement.ts";
import { viewLeftBy } from "../readable.ts";
import type { Judgement } from "../result.ts";
import { runIdOf } from "../run-ids.ts";
import type { RunContext } from "../standing.ts";
import { cutsOf, digestOfExact, rowsText, type SimulatedDeath, simulateDeaths } from "./deaths.ts";
import { sample } from "./sample.ts";

/** The deaths to die of one scenario on one subject. */
export interface KillTarget {
  readonly context: RunContext;
  readonly deaths: readonly SimulatedDeath[];
  /** Deaths that were wanted, and of which the simulated one shows nothing to hold a real one against. */
  readonly lost?: readonly CutRef[];
}

/** Takes a judgement of a target, as children die. */
export type KillSink = (target: KillTarget, judgement: Judgement, cut: CutRef) => void;

/** Whether a subject's disk outlives its process, so that there is something to look at. */
export function canBeKilled({ grade }: Subject): boolean {
  return grade !== "memory";
}

/** The target with a seeded sample of at most `count` of the wanted deaths. */
export async function killTarget(
  context: RunContext,
  wants: (cut: CutRef) => boolean,
  count: number,
): Promise<KillTarget> {
  const cuts = (await cutsOf(context)).filter(wants).map((cut) => ({ cut }));
  const random = seededRandom(context.seed, "kill", context.scenario.name, context.subject.id);
  const chosen = new Map(sample(cuts, count, random).map(({ cut }) => [cutRefName(cut), cut]));
  const deaths = await simulateDeaths(context, (cut) => chosen.has(cutRefName(cut)));
  for (const { cut } of deaths) chosen.delete(cutRefName(cut));
  return { context, deaths, lost: [...chosen.values()] };
}

/**
 * Dies every death of the targets for real, and judges what is left. All targets share the pool's children, so that
 * small ones do not cost a child each. `folder` is for the survivors.
 */
export async function exploreKills(
  targets: readonly KillTarget[],
  pool: KillPool,
  folder: string,
  sink: KillSink,
): Promise<void> {
  const own = mkdtempSync(join(folder, "kill-"));
  const assignments = new Map<KillRequest, { target: KillTarget; death: SimulatedDeath }>();
  for (const target of targets) {
    const { subject, scenario, seed } = target.context;
    for (const death of target.deaths) {
      const request = {
        subject: subject.id,
        scenario,
        seed,
        cut: death.cut,
        folder: join(own, String(assignments.size)),
      };
      assignments.set(request, { target, death });
    }
  }
  try {
    for await (const outcome of pool.kill([...assignments.keys()])) {
      const { request } = outcome;
      const assignment = assignments.get(request);
      if (assignment === undefined)
        throw new Error(`the pool killed ${request.folder}, which nobody asked for`);
      const { target, death } = assignment;
      const judgement =
        outcome.kind === "killed"
          ? await compare(target.context, death, request.folder)
          : { violations: [], inconclusive: outcome.doubt };
      sink(target, { id: runIdOf(target.context, "kill", [death.cut]), ...judgement }, death.cut);
      rmSync(request.folder, { recursive: true, force: true });
    }
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

async function compare(
  context: RunContext,
  death: SimulatedDeath,
  folder: string,
): Promise<Pick<Judgement, "violations">> {
  const violations: Violation[] = [];
  const broken = violationsOf("simulation-agrees");
  try {
    const view = await viewLeftBy(context, folder, []);
    if (digestOfExact(view) !== death.digest) {
      const where = await explain(context, death.cut, view);
      violations.push(broken("state-differs", `a real kill left another state; ${where}`));
    }
  } catch (error) {
    violations.push(refusal("unreadable", error, "what a real kill left cannot be read:", broken));
  }
  const rows = rowsText(readLedger(ledgerPathOf(folder)));
  if (rows !== death.rows) {
    const where = difference(death.rows, rows);
    violations.push(broken("rows-differ", `a real kill left other effects; ${where}`));
  }
  return { violations };
}

/** Only a digest of the simulated state was kept, so the death is simulated once more. */
async function explain(context: RunContext, cut: CutRef, real: View): Promise<string> {
  let simulated: string | undefined;
  await simulateDeaths(
    context,
    (other) => cutRefName(other) === cutRefName(cut),
    (_death, view) => {
      simulated = view.exact;
    },
  );
  return simulated === undefined
    ? "simulated once more, the run did not come to this death"
    : difference(simulated, real.exact);
}

/** Where two texts part, with what stands there. */
function difference(simulated: string, real: string): string {
  let offset = 0;
  while (offset < simulated.length && simulated[offset] === real[offset]) offset++;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, offset - 40), offset + 60));
  return `from character ${offset} on, simulated ${around(simulated)}, real ${around(real)}`;
}
