/** Clauses of the repository suite: a promise, where it is written down, and a body over a trial. */
import type { ConformanceCase } from "../case.ts";
import { caseOver } from "../make-case.ts";
import type { RepositoryFactory } from "./factory.ts";
import { RepositoryTrial } from "./trial.ts";

export interface RepositoryClause {
  readonly name: string;
  readonly cites: string;
  /** Whether it needs sessions of other storage versions. */
  readonly needsVersions?: true;
  readonly body: (trial: RepositoryTrial) => Promise<void>;
}

export interface RepositoryClauseGroup {
  readonly group: string;
  readonly clauses: readonly RepositoryClause[];
}

export function clause(name: string, cites: string, body: RepositoryClause["body"]): RepositoryClause {
  return { name, cites, body };
}

/** A clause over sessions of other storage versions. */
export function versioned(name: string, cites: string, body: RepositoryClause["body"]): RepositoryClause {
  return { name, cites, needsVersions: true, body };
}

/** The cases of a group for one repository. */
export function toCases(
  { group, clauses }: RepositoryClauseGroup,
  factory: RepositoryFactory,
): ConformanceCase[] {
  return clauses.map(({ name, cites, body, needsVersions }) => {
    const missing = needsVersions && !factory.hasVersions ? ["hasVersions"] : [];
    const begin = () => RepositoryTrial.begin(factory);
    return caseOver({ group, name, cites }, { name: factory.name, missing }, begin, body);
  });
}
