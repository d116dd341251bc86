/**
 * What the names on a command line stand for.
 *
 * Invariants.
 * 1. Every name is looked up before anything runs; an unknown one is answered with the names there are.
 * 2. A name that is given twice is looked at once: counted twice it would look like more.
 */
import { CANARIES, type Canary } from "../../fixtures/canaries/index.ts";
import { RACES } from "../../races/index.ts";
import { SCENARIOS } from "../../scenarios/index.ts";
import { UNRECOGNISED } from "../checkers/index.ts";
import { MIXTURES } from "../explore/index.ts";
import { EFFECT_LABELS, type Race, type Scenario } from "../faults/index.ts";
import type { Subject } from "../subject/index.ts";
import { CHECKS } from "./checks.ts";
import { type UsageCode, UsageError } from "./exit.ts";
import { allSubjects, subjectById } from "./subjects.ts";

/** The scenarios of the given names; all of them if none is given. */
export function scenariosOf(names: readonly string[]): readonly Scenario[] {
  return names.length === 0 ? SCENARIOS : found(names, amongNamed("UNKNOWN_SCENARIO", "scenario", SCENARIOS));
}

/** The races of the given names; all of them if none is given. */
export function racesOf(names: readonly string[]): readonly Race[] {
  return names.length === 0 ? RACES : found(names, amongNamed("UNKNOWN_RACE", "race", RACES));
}

/** The canaries of the given names; all of them if none is given. */
export function canariesOf(names: readonly string[]): readonly Canary[] {
  return names.length === 0 ? CANARIES : found(names, amongNamed("UNKNOWN_CANARY", "canary", CANARIES));
}

/** The subjects of the given ids; the built-in ones if none is given. The message names no canary: there are many. */
export function subjectsOf(ids: readonly string[]): readonly Subject[] {
  if (ids.length === 0) return allSubjects();
  const known = allSubjects().map(({ id }) => id);
  return found(ids, { code: "UNKNOWN_SUBJECT", what: "subject", known, find: subjectById });
}

/** The names of checkers to switch off. */
export function checkersOf(names: readonly string[]): readonly string[] {
  return found(names, amongNamed("UNKNOWN_CHECKER", "checker", CHECKS)).map(({ name }) => name);
}

/** The names of faults that the world of one of the subjects knows. */
export function worldFaultsOf(names: readonly string[], subjects: readonly Subject[]): readonly string[] {
  const kinds = subjects.flatMap(({ worldFaults = [] }) => worldFaults);
  return found(names, amongNamed("UNKNOWN_FAULT", "fault of the world", kinds)).map(({ name }) => name);
}

/** A mixture of generated workloads: it stands in a run id where others have a scenario. */
export function assertMixture(name: string): void {
  const mixtures = MIXTURES.map((mixture) => ({ name: mixture }));
  found([name], amongNamed("UNKNOWN_SCENARIO", "mixture of generated workloads", mixtures));
}

/** Boundaries to leave out: labels that the subjects or the world know, with or without an occurrence. */
export function boundariesOf(names: readonly string[], subjects: readonly Subject[]): readonly string[] {
  const known = new Set<string>([...EFFECT_LABELS, UNRECOGNISED]);
  for (const { rows } of subjects) for (const row of rows) known.add(row);
  for (const name of names) {
    const [, label = ""] = /^([^#]+)(?:#[1-9]\d*)?$/.exec(name) ?? [];
    if (!known.has(label)) {
      throw new UsageError(
        "UNKNOWN_BOUNDARY",
        `no boundary is called ${JSON.stringify(name)}; expected a label of \`crashproof list --rows\`, or ` +
          `${EFFECT_LABELS.join(", ")}; with #2 for the second one only`,
      );
    }
  }
  return names;
}

/** A sort of things that have names. */
interface Sort<T> {
  readonly code: UsageCode;
  /** In the words of a message. */
  readonly what: string;
  /** The names that the message lists. */
  readonly known: readonly string[];
  readonly find: (name: string) => T | undefined;
}

function amongNamed<T extends { readonly name: string }>(
  code: UsageCode,
  what: string,
  things: readonly T[],
): Sort<T> {
  const byName = new Map(things.map((thing) => [thing.name, thing]));
  return { code, what, known: [...byName.keys()], find: (name) => byName.get(name) };
}

/** What the names stand for, in the order in which they are given. */
function found<T>(names: readonly string[], { code, what, known, find }: Sort<T>): readonly T[] {
  return [...new Set(names)].map((name) => {
    const thing = find(name);
    if (thing !== undefined) return thing;
    throw new UsageError(
      code,
      `no ${what} is called ${JSON.stringify(name)}; there are: ${known.join(", ")}`,
    );
  });
}
