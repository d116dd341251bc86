/**
 * Suites over something that is made for each case and disposed of after it: providers, tools, hooks. A promise says what
 * it needs of the implementation beside being made; what is not declared is skipped with its reason.
 */
import type { ConformanceCase } from "./case.ts";
import { caseOver, type Disposable } from "./make-case.ts";

/** One promise over a subject of a kind. */
export interface ContractPromise<Subject, Capability extends string> {
  readonly name: string;
  readonly cites: string;
  readonly needs: readonly Capability[];
  readonly body: (subject: Subject) => Promise<void>;
}

export interface PromiseGroup<Subject, Capability extends string> {
  readonly group: string;
  readonly promises: readonly ContractPromise<Subject, Capability>[];
}

/** What makes subjects. */
export interface SubjectFactory<Subject, Capability extends string> {
  readonly name: string;
  readonly capabilities: { readonly [Name in Capability]?: boolean };
  create(): Promise<Subject & Disposable>;
}

/** What makes a promise of its parts, for one kind of subject. */
export function promiseOver<Subject, Capability extends string>() {
  return (
    name: string,
    cites: string,
    needs: readonly Capability[],
    body: (subject: Subject) => Promise<void>,
  ): ContractPromise<Subject, Capability> => ({ name, cites, needs, body });
}

/** The cases of a suite for one implementation. */
export function casesOf<Subject, Capability extends string>(
  groups: readonly PromiseGroup<Subject, Capability>[],
  factory: SubjectFactory<Subject, Capability>,
): ConformanceCase[] {
  return groups.flatMap(({ group, promises }) =>
    promises.map(({ name, cites, needs, body }) => {
      const missing = needs.filter((need) => factory.capabilities[need] !== true);
      const create = () => factory.create();
      return caseOver({ group, name, cites }, { name: factory.name, missing }, create, body);
    }),
  );
}
