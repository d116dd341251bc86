/**
 * Collecting: judgements as they come, into groups, coverage and failures.
 *
 * Invariants.
 * 1. A boundary is total once a walk has seen it, and covered once every run cut at it has a verdict other than
 *    inconclusive. A boundary that a plan leaves out stays uncovered: the result is inconclusive.
 * 2. Every expected row that was not cut before and after is missing by name. A row that only recoveries make is cut by
 *    the second death of a run, so every death of a run counts here, and as a boundary only the one that its group is about: the
 *    first, or the second.
 */
import { type CutRef, cutRefName } from "../faults/index.ts";
import type { How } from "./crash/recoveries.ts";
import { countFired, type Fired, positionOf, sumFired } from "./fired.ts";
import {
  type Boundaries,
  type Deeper,
  type ExploreResult,
  type Failure,
  type Faults,
  failuresOf,
  type GroupKind,
  type GroupResult,
  type Interleavings,
  type Judgement,
  type Kills,
  type Limit,
  RESULT_SCHEMA,
  type Recoveries,
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
  readonly recoveries: Readonly<Record<How, number>>;
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
  /** Faults of the medium by name: those that were to be, and those that have a verdict other than inconclusive. */
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
  readonly #recoveries: Record<How, number> = { executed: 0, shared: 0, repeated: 0 };
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

  /** A fault of the medium that is to be. */
  sawFault(name: string): void {
    this.#faults.add(name);
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

  /** A run with a fault of the medium. `isRecovered`: a recovery from it was executed. */
  judgedFault(found: Judgement, name: string, isRecovered: boolean): void {
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

  /** How many faults of the medium were to be, and how many of them were looked at and recovered from. */
  get faults(): Faults {
    const [covered, total] = [this.#faultsCovered.size, this.#faults.size];
    return { covered, total, recoveries: this.#faultRecoveries };
  }

  /** How the end of a recovery became known. */
  recovered(how: How): void {
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

/** A group as a result shows it. */
export function groupResultOf(group: GroupRecord): GroupResult {
  const { kind, scenario, subject, survived, violated, inconclusive, elapsedMs, limits, interleavings } =
    group;
  const runs = survived + violated + inconclusive;
  const unpromised = limits.reduce((total, limit) => total + limit.runs, 0);
  return {
    kind,
    scenario,
    subject,
    runs,
    survived,
    violated,
    inconclusive,
    perSecond: elapsedMs === 0 ? 0 : Math.round((runs * 1000) / elapsedMs),
    ...(unpromised === 0 ? {} : { unpromised }),
    ...(interleavings === undefined ? {} : { interleavings }),
  };
}

/** Puts groups together. `rowsExpected` names the rows of each subject of the plan. */
export function collect(
  groups: readonly GroupRecord[],
  head: Pick<
    ExploreResult,
    "version" | "seed" | "command" | "elapsedMs" | "skipped" | "checkersOff" | "notReached"
  > & { readonly kills: Kills | undefined },
  rowsExpected: ReadonlyMap<string, readonly string[]>,
): ExploreResult {
  const results = groups.filter((group) => !isUnplanned(group)).map(groupResultOf);
  const sum = (key: "runs" | "survived" | "violated" | "inconclusive") =>
    results.reduce((total, group) => total + group[key], 0);
  const { version, seed, command, elapsedMs, skipped, checkersOff, notReached, kills } = head;
  return {
    schema: RESULT_SCHEMA,
    version,
    seed,
    command,
    elapsedMs,
    totals: {
      runs: sum("runs"),
      survived: sum("survived"),
      violated: sum("violated"),
      inconclusive: sum("inconclusive"),
    },
    coverage: {
      boundaries: boundariesOf(groups),
      ...deeperOf(groups),
      ...faultsOf(groups),
      ...firedOf(groups),
      ...ordersOf(groups),
      rows: rowCoverage(groups, rowsExpected),
    },
    recoveries: recoveriesOf(groups),
    ...(kills === undefined ? {} : { kills }),
    ...limitsOf(groups),
    skipped,
    checkersOff,
    notReached,
    groups: results,
    failures: groups.flatMap((group) => group.failures),
  };
}

/** Of a group in which a sample drew nothing there is nothing to show; its boundaries are counted as left. */
function isUnplanned({ survived, violated, inconclusive, boundaries }: GroupRecord): boolean {
  return survived + violated + inconclusive + boundaries.total === 0 && (boundaries.unplanned ?? 0) > 0;
}

function boundariesOf(groups: readonly GroupRecord[]): Boundaries {
  const sum = (of: (boundaries: Boundaries) => number) =>
    groups.reduce((total, { boundaries }) => total + of(boundaries), 0);
  const unplanned = sum((boundaries) => boundaries.unplanned ?? 0);
  const planned = { covered: sum(({ covered }) => covered), total: sum(({ total }) => total) };
  return unplanned === 0 ? planned : { ...planned, unplanned };
}

function deeperOf(groups: readonly GroupRecord[]): Pick<ExploreResult["coverage"], "deeper"> {
  const sum = (key: keyof Deeper) => groups.reduce((total, { deeper }) => total + (deeper?.[key] ?? 0), 0);
  const deeper = { cut: sum("cut"), total: sum("total") };
  return deeper.total === 0 ? {} : { deeper };
}

function faultsOf(groups: readonly GroupRecord[]): Pick<ExploreResult["coverage"], "faults"> {
  const sum = (key: keyof Faults) => groups.reduce((total, { faults }) => total + faults[key], 0);
  const faults = { covered: sum("covered"), total: sum("total"), recoveries: sum("recoveries") };
  return faults.total === 0 ? {} : { faults };
}

function firedOf(groups: readonly GroupRecord[]): Pick<ExploreResult["coverage"], "fired"> {
  const fired = sumFired(groups.flatMap((group) => group.fired));
  return fired.length === 0 ? {} : { fired };
}

/** The limits of each subject, over all its groups. */
function limitsOf(groups: readonly GroupRecord[]): Pick<ExploreResult, "limits"> {
  const limits = new Map<string, Limit>();
  for (const limit of groups.flatMap((group) => group.limits)) {
    const key = `${limit.subject}\u0000${limit.signature}`;
    const known = limits.get(key);
    limits.set(key, known === undefined ? limit : { ...known, runs: known.runs + limit.runs });
  }
  return limits.size === 0 ? {} : { limits: [...limits.values()] };
}

function recoveriesOf(groups: readonly GroupRecord[]): Recoveries {
  const sum = (how: How) => groups.reduce((total, group) => total + group.recoveries[how], 0);
  const [executed, repeated] = [sum("executed"), sum("repeated")];
  return { deaths: executed + repeated + sum("shared"), executed: executed + repeated, repeated };
}

function ordersOf(groups: readonly GroupRecord[]): Pick<ExploreResult["coverage"], "orders"> {
  const covered = groups.reduce((total, { orders }) => total + orders.covered, 0);
  const total = groups.reduce((sum, { orders }) => sum + orders.total, 0);
  return total === 0 ? {} : { orders: { covered, total } };
}

function rowCoverage(
  groups: readonly GroupRecord[],
  rowsExpected: ReadonlyMap<string, readonly string[]>,
): ExploreResult["coverage"]["rows"] {
  const cut = new Set(
    groups
      .filter(({ kind }) => kind === "crash" || kind === "second")
      .flatMap((group) => group.rows.map((row) => `${group.subject}:${row}`)),
  );
  const expected = [...rowsExpected].flatMap(([subject, rows]) => rows.map((row) => `${subject}:${row}`));
  const missing = expected.filter((row) => !cut.has(row));
  return { covered: expected.length - missing.length, total: expected.length, missing };
}

/** A boundary with position, without the byte: a commit torn at several places is one boundary. */
function positionName({ label, occurrence, position }: CutRef): string {
  return cutRefName({ label, occurrence, position });
}
