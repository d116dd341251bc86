/**
 * How the bench measures: a figure and its floor in the same run, alternating, the median of seven, and their ratio. Each
 * of the seven may itself be of several slices that alternate, so that what the machine does now and then meets both.
 *
 * Absolute times differ from machine to machine and from minute to minute; ratios within one run hardly do. A goal
 * that is missed is printed as missed. Nothing here decides a test.
 */
import pc from "picocolors";

/** One side of a comparison: prepares, untimed, and returns what is timed, which says how many units it did. */
export type Work = () => Timed | Promise<Timed>;
export type Timed = () => number | Promise<number>;

/** A comparison, as it is printed. */
interface Comparison {
  readonly name: string;
  readonly ours: Work;
  readonly floor: Work;
  /** What the unit is called, e.g. "commit". */
  readonly unit: string;
  /**
   * `ours` may take at most this many times the floor; or reach at least this share of its rate. With no goal its share is
   * printed, to explain another figure.
   */
  readonly goal: { readonly timesMax: number } | { readonly rateShareMin: number } | "none";
  /** Into how many slices a round is cut; 1 unless given. */
  readonly slices?: number;
}

const ROUNDS = 7;
const WARM_UP_ROUNDS = 2;

/** Measures a comparison and prints its line. */
export async function compare({ name, ours, floor, unit, goal, slices = 1 }: Comparison): Promise<void> {
  const ourTimes: number[] = [];
  const floorTimes: number[] = [];
  // What is compiled while it runs must not be measured while it is compiled.
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const sums = { floor: 0, ours: 0 };
    for (let slice = 0; slice < slices; slice++) {
      sums.floor += await once(floor);
      sums.ours += await once(ours);
    }
    if (round < 0) continue;
    floorTimes.push(sums.floor / slices);
    ourTimes.push(sums.ours / slices);
  }
  const our = median(ourTimes);
  const base = median(floorTimes);
  const ratio = our / base;
  const times = `${micros(our)} against ${micros(base)} per ${unit}`;
  const rates = `${rate(our)} against ${rate(base)} ${unit}s a second`;
  const share = `${(1 / ratio).toFixed(2)} of the floor's rate`;
  if (goal === "none") {
    say({ name, isMet: undefined, figures: share, detail: rates });
  } else if ("timesMax" in goal) {
    const figures = `${ratio.toFixed(2)} × (goal ≤ ${goal.timesMax})`;
    say({ name, isMet: ratio <= goal.timesMax, figures, detail: times });
  } else {
    const figures = `${share} (goal ≥ ${goal.rateShareMin})`;
    say({ name, isMet: 1 / ratio >= goal.rateShareMin, figures, detail: rates });
  }
}

/** Prints the line of a figure; also of one that is counted, not timed. */
export function say({ name, isMet, figures, detail }: Figure): void {
  const verdict = isMet === undefined ? "      " : isMet ? pc.green("met   ") : pc.red("MISSED");
  process.stdout.write(`${verdict} ${name.padEnd(58)} ${figures.padEnd(40)} ${pc.dim(detail)}\n`);
}

interface Figure {
  readonly name: string;
  /** Undefined: it has no goal. */
  readonly isMet: boolean | undefined;
  /** The figure, and the goal in brackets. */
  readonly figures: string;
  readonly detail: string;
}

/** Microseconds for one unit. */
async function once(work: Work): Promise<number> {
  const timed = await work();
  const start = process.hrtime.bigint();
  const units = await timed();
  return Number(process.hrtime.bigint() - start) / 1000 / units;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function micros(us: number): string {
  return us >= 1000 ? `${(us / 1000).toFixed(1)} ms` : `${us.toFixed(2)} µs`;
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function rate(us: number): string {
  return Math.round(1e6 / us).toString();
}
