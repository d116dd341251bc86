/**
 * Tallies: the judgements of one group as they come, counted, and the record of what came of it.
 *
 * Invariants.
 * 1. Every run is in one column: survived, violated or inconclusive; or it found what nobody promises, and is counted apart.
 * 2. A boundary is total once a walk has seen it, and covered once every run cut at it has a verdict other than
 *    inconclusive. A boundary that a plan leaves out stays uncovered: the result is inconclusive.
 * 3. A row that only recoveries make is cut by the second death of a run, so every death of a run counts for rows; and as a
 *    boundary only the one that its group is about: the first, or the second.
 */
import { type CutRef, cutRefName } from "../faults/index.ts";
import { countFired, type Fired, positionOf } from "./fired.ts";
import {
  type Boundaries,
  type Deeper,
  type Failure,
  type Faults,
  failuresOf,
  type GroupKind,
  type HowRecovered,
  type Interleavings,
  type Judgement,
  type Limit,
  type Verdict,
  verdictOf,
} from "./result.ts";

/** What came of a group: a plain JSON-safe value, and all that a result says of it. */
export interface GroupRecord {
  readonly kind: GroupKind;
  readonly scenario: string;
  readonly subject: string;
  readonly survived: number;
  readonly violated: number;
  readonly inconclusive: number;
  /** Host milliseconds that its runs took. */
  readonly elapsedMs: number;
  readonly boundaries: Boundaries;
  /** Only where runs die more than twice. */
  readonly deeper?: Deeper;
  /** Rows that were cut at `before` and at `after`. */
  readonly rows: readonly string[];
  readonly faults: Faults;
  /** By kind of fault, what was to be and what fired. */
  readonly fired: readonly Fired[];
  readonly orders: { readonly covered: number; readonly total: number };
  /** Only where interleavings were explored. */
  readonly interleavings?: Interleavings;
  readonly limits: readonly Limit[];
  readonly recoveries: Readonly<Record<HowRecovered, number>>;
  readonly failures: readonly Failure[];
}

/** One group while it runs. */
export class GroupTally {
  readonly kind: GroupKind;
  readonly scenario: string;
  readonly subject: string;
  readonly #seen = new Set<string>();
  readonly #unplanned = new Set<string>();
  readonly #covered = new Set<string>();
  readonly #doubtful = new Set<string>();
  /** The deaths behind `#covered` and `#doubtful`, all of each run: `label:position` of the last one, by all their names. */
  readonly #died = new Map<string, string>();
  readonly #diedInDoubt = new Set<string>();
  readonly #failures: Failure[] = [];
  /** Faults by name: those that were to be, and those that have a verdict other than inconclusive. */
  readonly #faults = new Set<string>();
  readonly #faultsCovered = new Set<string>();
  #faultRecoveries = 0;
  /** Orders of a race by name: those asked for, and those that happened. */
  readonly #orders = new Set<string>();
  readonly #ordersProven = new Set<string>();
  /** By signature. */
  readonly #limits = new Map<string, Limit>();
  #survived = 0;
  #violated = 0;
  #inconclusive = 0;
  #deeper: Deeper = { cut: 0, total: 0 };
  readonly #recoveries: Record<HowRecovered, number> = { executed: 0, shared: 0, repeated: 0 };
  /** Host milliseconds that the runs of this group took. */
  elapsedMs = 0;
  /** What was gone through of the interleavings of a race, if they were. */
  interleavings: Interleavings | undefined;

  readonly #checkersOff: readonly string[];

  /** @param checkersOff checkers whose word does not count, to show that each is needed. */
  constructor(kind: GroupKind, scenario: string, subject: string, checkersOff: readonly string[] = []) {
    this.#checkersOff = checkersOff;
    this.kind = kind;
    this.scenario = scenario;
    this.subject = subject;
  }

  /** A boundary that the scenario has. */
  saw(cut: CutRef): void {
    this.#seen.add(positionName(cut));
  }

  /** A boundary that the scenario has, and that is no part of the plan. */
  sawUnplanned(cut: CutRef): void {
    this.#unplanned.add(positionName(cut));
  }

  /** A third or later death that there is, and whether it is part of the plan. */
  sawDeeper(isWanted: boolean): void {
    const { cut, total } = this.#deeper;
    this.#deeper = { cut: cut + (isWanted ? 1 : 0), total: total + 1 };
  }

  /** An order of a race that is asked for. */
  sawOrder(name: string): void {
    this.#orders.add(name);
  }

  /** It happened. */
  provedOrder(name: string): void {
    this.#ordersProven.add(name);
  }

  /** How many orders of a race were asked for, and how many of them happened. */
  get orders(): { readonly covered: number; readonly total: number } {
    return { covered: this.#ordersProven.size, total: this.#orders.size };
  }

  /** A run with a fault that was to be. `isRecovered`: a recovery from it was executed. */
  judgedFault(found: Judgement, name: string, isRecovered: boolean): void {
    this.#faults.add(name);
    if (isRecovered) this.#faultRecoveries++;
    if (this.#judged(found) !== "inconclusive") this.#faultsCovered.add(name);
  }

  /** A run, and its deaths, if it was cut. */
  judged(found: Judgement, path: readonly CutRef[] = []): void {
    const verdict = this.#judged(found);
    const first = path[0];
    const last = path.at(-1);
    if (first === undefined || last === undefined) return;
    const counted = this.kind === "second" ? last : first;
    (verdict === "inconclusive" ? this.#doubtful : this.#covered).add(positionName(counted));
    const deaths = path.map(positionName).join("+");
    this.#died.set(deaths, `${last.label}:${last.position}`);
    if (verdict === "inconclusive") this.#diedInDoubt.add(deaths);
  }

  /** Counts a run. What nobody promises is looked at and counted apart, so it is no doubt either. */
  #judged(found: Judgement): Verdict {
    const violations = found.violations.filter(({ checker }) => !this.#checkersOff.includes(checker));
    const judgement = { ...found, violations };
    const { id, limit } = judgement;
    if (limit !== undefined && violations.length === 0 && judgement.inconclusive === undefined) {
      const known = this.#limits.get(limit.signature);
      const { subject } = this;
      const first = known ?? { subject, ...limit, runs: 0, example: id };
      this.#limits.set(limit.signature, { ...first, runs: first.runs + 1 });
      return "survived";
    }
    const verdict = verdictOf(judgement);
    this.#failures.push(...failuresOf(judgement));
    if (verdict === "survived") this.#survived++;
    else if (verdict === "violated") this.#violated++;
    else this.#inconclusive++;
    return verdict;
  }

  get limits(): readonly Limit[] {
    return [...this.#limits.values()];
  }

  /** How many faults were to be, and how many of them were looked at and recovered from. */
  get faults(): Faults {
    const [covered, total] = [this.#faultsCovered.size, this.#faults.size];
    return { covered, total, recoveries: this.#faultRecoveries };
  }

  /** How the end of a recovery became known. */
  recovered(how: HowRecovered): void {
    this.#recoveries[how]++;
  }

  get failures(): readonly Failure[] {
    return this.#failures;
  }

  /** Boundaries by name: all, and those covered without doubt. */
  get boundaries(): { readonly total: readonly string[]; readonly covered: readonly string[] } {
    const covered = [...this.#covered].filter((name) => !this.#doubtful.has(name));
    return { total: [...this.#seen], covered };
  }

  /** Rows that were cut at `before` and at `after`. */
  get rows(): readonly string[] {
    const cut = new Set<string>();
    for (const [deaths, place] of this.#died) if (!this.#diedInDoubt.has(deaths)) cut.add(place);
    return [...cut].flatMap((place) => {
      const label = place.slice(0, place.lastIndexOf(":"));
      return place.endsWith(":before") && cut.has(`${label}:after`) ? [label] : [];
    });
  }

  get record(): GroupRecord {
    const { total, covered } = this.boundaries;
    return {
      kind: this.kind,
      scenario: this.scenario,
      subject: this.subject,
      survived: this.#survived,
      violated: this.#violated,
      inconclusive: this.#inconclusive,
      elapsedMs: this.elapsedMs,
      boundaries: { covered: covered.length, total: total.length, unplanned: this.#unplanned.size },
      ...(this.#deeper.total === 0 ? {} : { deeper: this.#deeper }),
      rows: this.rows,
      faults: this.faults,
      fired: [
        ...countFired(this.kind, total, new Set(covered), positionOf),
        ...countFired(this.kind, this.#faults, this.#faultsCovered),
      ],
      orders: this.orders,
      ...(this.interleavings === undefined ? {} : { interleavings: this.interleavings }),
      limits: this.limits,
      recoveries: { ...this.#recoveries },
      failures: this.#failures,
    };
  }
}

/** A boundary with position, without the byte: a commit torn at several places is one boundary. */
function positionName({ label, occurrence, position }: CutRef): string {
  return cutRefName({ label, occurrence, position });
}
