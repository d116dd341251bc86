/**
 * Clauses: what the suite is made of. A clause says its promise, where it is written down, what it needs of the
 * backend, and has one body; `toCases` makes a case of it for every state in which it is to be proved.
 */
import type { ConformanceCase } from "../case.ts";
import { caseOver } from "../make-case.ts";
import type { StorageCapabilities, StorageFactory } from "./factory.ts";
import { Trial, type TrialState } from "./trial.ts";

export type Capability = keyof StorageCapabilities;

/** One promise of the storage contract. */
export interface Clause {
  readonly name: string;
  readonly cites: string;
  readonly states: readonly TrialState[];
  readonly needs: readonly Capability[];
  readonly body: ClauseBody;
}

export type ClauseBody = (trial: Trial) => Promise<void>;

export interface ClauseGroup {
  readonly group: string;
  readonly clauses: readonly Clause[];
}

/** A clause that is proved once, on a live store. */
export function live(name: string, cites: string, body: ClauseBody): Clause {
  return { name, cites, states: ["live"], needs: [], body };
}

/** A clause that is proved twice: on the live store, and after `revisit` has opened the session again. */
export function everywhere(name: string, cites: string, body: ClauseBody): Clause {
  return { name, cites, states: ["live", "reopened"], needs: [], body };
}

/** A clause that needs something of the backend beside being opened once. */
export function needing(needs: readonly Capability[], name: string, cites: string, body: ClauseBody): Clause {
  return { name, cites, states: ["live"], needs, body };
}

/** The cases of a group for one backend. */
export function toCases({ group, clauses }: ClauseGroup, factory: StorageFactory): ConformanceCase[] {
  return clauses.flatMap((clause) => clause.states.map((state) => toCase(group, clause, state, factory)));
}

function toCase(group: string, clause: Clause, state: TrialState, factory: StorageFactory): ConformanceCase {
  const name = state === "live" ? clause.name : `${clause.name} (reopened)`;
  const needs: readonly Capability[] = state === "live" ? clause.needs : [...clause.needs, "survivesReopen"];
  const missing = needs.filter((need) => factory.capabilities[need] !== true);
  const begin = () => Trial.begin(factory, state);
  return caseOver({ group, name, cites: clause.cites }, { name: factory.name, missing }, begin, clause.body);
}
