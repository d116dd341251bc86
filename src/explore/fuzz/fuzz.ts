/**
 * Fuzzing: cases that are drawn by seed and path, each run on every subject, judged by all judges and by the reference
 * model; and what the subjects of a family came to, held against each other.
 *
 * A failure is shrunk once for each kind of failure of a subject in a batch: to the smallest case that fails in the same
 * way (the same checker, the same signature), within so many tries and within a time. The line that repeats it names the
 * path of that case.
 *
 * Terms. *Batch*: cases that are explored together; the batches of a plan follow from the plan alone. *Kept*: a case of
 * the corpus.
 */
import { formatRunId, type Scenario } from "../../faults/index.ts";
import type { Clock } from "../../foundation/index.ts";
import type { Subject } from "../../subject/index.ts";
import { agreementOf } from "../judgement.ts";
import type { Judgement } from "../result.ts";
import type { RunContext } from "../standing.ts";
import type { Mixture } from "./arbitrary.ts";
import { caseOf, draw, drawAgain, shrink } from "./cases.ts";
import type { CasePlan } from "./plan.ts";
import { type CaseRun, type FuzzCase, runCase } from "./run-case.ts";

/** How much to fuzz. */
export interface FuzzPlan {
  /** Cases that are drawn, of all mixtures together. */
  readonly runs: number;
  readonly mixtures: readonly Mixture[];
  /** Only on these subjects of the plan, by their ids. */
  readonly subjects?: readonly string[];
  /** No case is begun after this time of the host, Unix ms. */
  readonly untilMs?: number;
  /** Cases that are run again first. */
  readonly corpus?: readonly CorpusCase[];
  /** How far one failure is shrunk; absent: not at all. */
  readonly shrink?: ShrinkLimits;
}

export interface ShrinkLimits {
  /** Cases that are tried. */
  readonly triesMax: number;
  /** A slow machine ends earlier. */
  readonly timeMaxMs: number;
}

/** A case that was found to be worth keeping. */
export interface CorpusCase {
  readonly mixture: Mixture;
  readonly seed: number;
  readonly path: string;
  /** Why it is interesting, in a sentence. */
  readonly why: string;
}

/** See the module header. */
export interface Batch {
  /** Of letters, digits and the signs of run ids. */
  readonly name: string;
  readonly mixture: Mixture;
  readonly seed: number;
  readonly cases: { readonly from: number; readonly count: number } | { readonly path: string };
}

/** What fuzzing needs of the exploration. */
export interface FuzzHost {
  readonly subjects: readonly Subject[];
  readonly clock: Clock;
  /** The context of a scenario on a subject under a seed. */
  contextOf(scenario: Scenario, subject: Subject, seed: number): RunContext;
}

/** Takes what is found. */
export interface FuzzSink {
  /** `who`: the subject, or the family whose subjects were held against each other. */
  judged(judgement: Judgement, who: string, faultCount: number): void;
  observed?(run: CaseRun, fuzzCase: FuzzCase): void;
}

/** Enough that a batch costs more than handing it to a worker. */
const BATCH_CASES = 25;

/** The batches of a plan: the corpus first, then the mixtures by turns. */
export function batchesOf({ runs, mixtures, corpus = [] }: FuzzPlan, seed: number): readonly Batch[] {
  const kept = corpus.map(({ mixture, seed: of, path }) => {
    return { name: `${mixture}/kept/${of}/${path}`, mixture, seed: of, cases: { path } };
  });
  const drawn: Batch[] = [];
  for (let from = 0; from * mixtures.length < runs; from += BATCH_CASES) {
    for (const [index, mixture] of mixtures.entries()) {
      const count = Math.min(BATCH_CASES, shareOf(runs, index, mixtures.length) - from);
      if (count > 0) drawn.push({ name: `${mixture}/${from}`, mixture, seed, cases: { from, count } });
    }
  }
  return [...kept, ...drawn];
}

/** How many of so many runs the mixture of an index takes; the first ones take what is left over. */
function shareOf(runs: number, index: number, mixtureCount: number): number {
  return Math.floor(runs / mixtureCount) + (index < runs % mixtureCount ? 1 : 0);
}

/** Explores a batch. */
export async function exploreBatch(
  { untilMs, shrink: limits }: Pick<FuzzPlan, "untilMs" | "shrink">,
  batch: Batch,
  host: FuzzHost,
  sink: FuzzSink,
): Promise<void> {
  const { mixture, seed, cases, name } = batch;
  // Not even drawn: coming to the number of a late case takes as long as there are cases before it.
  if (untilMs !== undefined && host.clock.now() >= untilMs) return;
  const fuzzing = new Fuzzing(batch, limits, host, sink);
  if ("path" in cases) {
    const plan = await drawAgain(mixture, seed, cases.path);
    if (plan === undefined) throw new Error(`there is no case ${name}`);
    return fuzzing.take(plan, cases.path);
  }
  await draw(mixture, { seed, ...cases }, async ({ plan, path }) => {
    if (untilMs !== undefined && host.clock.now() >= untilMs) return "enough";
    await fuzzing.take(plan, path);
    return "go on";
  });
}

/** One case again. Does not call the sink if there is no such case. */
export async function fuzzAgain(
  { mixture, seed, path }: Pick<CorpusCase, "mixture" | "seed" | "path">,
  host: FuzzHost,
  sink: FuzzSink,
): Promise<void> {
  const plan = await drawAgain(mixture, seed, path);
  if (plan !== undefined) await new Fuzzing({ mixture, seed }, undefined, host, sink).take(plan, path);
}

class Fuzzing {
  readonly #of: Pick<Batch, "mixture" | "seed">;
  readonly #limits: ShrinkLimits | undefined;
  readonly #host: FuzzHost;
  readonly #sink: FuzzSink;
  /** Kinds of failures that have been shrunk, by subject. */
  readonly #shrunk = new Set<string>();

  constructor(
    of: Pick<Batch, "mixture" | "seed">,
    limits: ShrinkLimits | undefined,
    host: FuzzHost,
    sink: FuzzSink,
  ) {
    this.#of = of;
    this.#limits = limits;
    this.#host = host;
    this.#sink = sink;
  }

  /** Runs a case on every subject that can, and compares. */
  async take(plan: CasePlan, path: string): Promise<void> {
    const families = new Map<string, Map<string, string>>();
    for (const subject of this.#host.subjects) {
      const run = await this.#run(plan, path, subject);
      if (run === undefined) continue;
      this.#sink.observed?.(run, caseOf(plan, this.#of.mixture));
      this.#sink.judged(await this.#smallest(run, path, subject), subject.id, run.faultCount);
      if (run.digest === undefined) continue;
      const digests = families.get(subject.family) ?? new Map<string, string>();
      families.set(subject.family, digests.set(subject.id, run.digest));
    }
    for (const [family, digests] of families) {
      if (digests.size > 1) this.#sink.judged(this.#agreement(path, digests), family, 0);
    }
  }

  /** Undefined: the subject cannot run it. */
  async #run(plan: CasePlan, path: string, subject: Subject): Promise<CaseRun | undefined> {
    const { mixture, seed } = this.#of;
    const fuzzCase = caseOf(plan, mixture);
    if (subject.skips?.(fuzzCase.scenario) !== undefined) return undefined;
    const context = this.#host.contextOf(fuzzCase.scenario, subject, seed);
    return runCase(context, fuzzCase, this.#idOf(path, subject.id));
  }

  /** The judgement of a run, or of the smallest case that fails like it, if it is the first of its kind. */
  async #smallest({ judgement }: CaseRun, path: string, subject: Subject): Promise<Judgement> {
    const kind = kindOf(judgement);
    const name = `${subject.id}\u0000${kind}`;
    if (kind === undefined || this.#limits === undefined || this.#shrunk.has(name)) return judgement;
    this.#shrunk.add(name);
    const { triesMax, timeMaxMs } = this.#limits;
    const { clock } = this.#host;
    const untilMs = clock.now() + timeMaxMs;
    let triesLeft = triesMax;
    let smallest = judgement;
    const { mixture, seed } = this.#of;
    const found = await shrink(mixture, { seed, path }, async (plan) => {
      if (triesLeft-- <= 0 || clock.now() >= untilMs) return false;
      const run = await this.#run(plan, path, subject);
      if (run === undefined || kindOf(run.judgement) !== kind) return false;
      smallest = run.judgement;
      return true;
    });
    return found === undefined ? judgement : { ...smallest, id: this.#idOf(found.path, subject.id) };
  }

  #agreement(path: string, digests: ReadonlyMap<string, string>): Judgement {
    return { id: this.#idOf(path, [...digests.keys()].join("=")), ...agreementOf(digests) };
  }

  #idOf(path: string, subject: string): string {
    const { mixture, seed } = this.#of;
    return formatRunId({ kind: "fuzz", scenario: mixture, subject, cuts: [], seed, fault: path });
  }
}

/** The kind of a failure: its first broken promise. */
function kindOf({ violations: [first] }: Judgement): string | undefined {
  return first === undefined ? undefined : `${first.checker}\u0000${first.signature}`;
}
