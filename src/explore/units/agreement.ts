/** What the subjects of each family recovered to, held against each other cut by cut (design §3.8). */
import { type CutRef, cutRefName, formatRunId, parseCut } from "../../faults/index.ts";
import { agreementOf, doubt } from "../judgement.ts";
import type { ExplorePlan } from "../plan.ts";
import type { Judgement } from "../result.ts";
import { type GroupRecord, GroupTally } from "../tally.ts";
import { isPlanned, type UnitRecord } from "./unit.ts";

/** What the runs of a scenario on a subject recovered to. Most of them recover to the same. */
export interface Reached {
  readonly scenario: string;
  readonly subject: string;
  /** Of canonical views. */
  readonly digests: readonly string[];
  /** The deaths of a run, by name, and the digest of what it recovered to, by its place. */
  readonly runs: readonly (readonly [deaths: string, digest: number])[];
}

/** Collects what runs recovered to. */
export class ReachedTally {
  readonly #runs: [string, number][] = [];
  readonly #digests: string[] = [];

  add(path: readonly CutRef[], digest: string): void {
    // Where a commit is torn depends on the medium; what it recovers to does not, but no other medium has the cut.
    if (path.some((cut) => cut.bytesWritten !== undefined)) return;
    let place = this.#digests.indexOf(digest);
    if (place < 0) place = this.#digests.push(digest) - 1;
    this.#runs.push([path.map(cutRefName).join("+"), place]);
  }

  record(scenario: string, subject: string): Reached {
    return { scenario, subject, digests: this.#digests, runs: this.#runs };
  }
}

/** What is held against each other: a name under which runs were recorded, and the id of one of them on several subjects. */
export interface Compared {
  readonly name: string;
  idOf(subjects: string, cuts: readonly CutRef[]): string;
  /** Whether a subject was to come to a first death. */
  isAsked(subject: string, cut: CutRef): boolean;
}

/** The scenarios of a plan. */
export function scenariosOf(plan: ExplorePlan): readonly Compared[] {
  const { scenarios, subjects, seed } = plan;
  return scenarios.map((scenario) => ({
    name: scenario.name,
    idOf: (subject, cuts) => formatRunId({ kind: "backends", scenario: scenario.name, subject, cuts, seed }),
    isAsked: (id, cut) => {
      const subject = subjects.find((one) => one.id === id);
      return subject !== undefined && isPlanned(plan, { scenario, subject }, cut);
    },
  }));
}

/** A group for each name and family of which several subjects made the same runs. */
export function agreementGroups(
  plan: ExplorePlan,
  records: readonly UnitRecord[],
  all: readonly Compared[] = scenariosOf(plan),
): GroupRecord[] {
  return all.flatMap((compared) => {
    const families = new Map<string, Map<string, Map<string, string>>>();
    for (const { id, family } of plan.subjects) {
      const cuts = families.get(family) ?? new Map<string, Map<string, string>>();
      families.set(family, cuts);
      for (const { reached } of records) {
        if (reached?.scenario !== compared.name || reached.subject !== id) continue;
        for (const [deaths, place] of reached.runs) {
          const digests = cuts.get(deaths) ?? new Map<string, string>();
          cuts.set(deaths, digests);
          digests.set(id, reached.digests[place] ?? "");
        }
      }
    }
    return [...families].flatMap(([family, cuts]) => groupOf(plan, compared, family, cuts));
  });
}

function groupOf(
  plan: ExplorePlan,
  compared: Compared,
  family: string,
  cuts: ReadonlyMap<string, ReadonlyMap<string, string>>,
): GroupRecord[] {
  const comparable = [...cuts].filter(([, digests]) => digests.size > 1);
  if (comparable.length === 0) return [];
  const tally = new GroupTally("backends", compared.name, family, plan.checkersOff);
  for (const [deaths, digests] of comparable) tally.judged(judge(compared, deaths, digests));
  for (const missing of missingFrom(compared, cuts)) tally.judged(missing);
  return [tally.record];
}

/**
 * Deaths that some subjects of a family came to and others did not, though their runs without a death were compared: what
 * is not compared shows no agreement. Those that a sample left out count for nothing. Second deaths neither: which recovery
 * makes a row first depends on where commits are torn.
 */
function missingFrom(
  compared: Compared,
  cuts: ReadonlyMap<string, ReadonlyMap<string, string>>,
): readonly Judgement[] {
  const all = [...(cuts.get("")?.keys() ?? [])];
  return [...cuts].flatMap(([deaths, digests]): Judgement[] => {
    const cut = parseCut(deaths);
    if (cut === undefined) return [];
    const absent = all.filter((subject) => !digests.has(subject) && compared.isAsked(subject, cut));
    if (absent.length === 0) return [];
    const message = `${absent.join(" and ")} did not come to ${deaths}, or did not recover from it, and ${[...digests.keys()].join(" and ")} did`;
    return [{ id: compared.idOf(all.join("="), [cut]), ...doubt("not-reached", message) }];
  });
}

function judge(compared: Compared, deaths: string, digests: ReadonlyMap<string, string>): Judgement {
  const cuts = deaths === "" ? [] : deaths.split("+").flatMap((name) => parseCut(name) ?? []);
  return { id: compared.idOf([...digests.keys()].join("="), cuts), ...agreementOf(digests) };
}
