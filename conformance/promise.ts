/**
 * Suites over something that is made for each case and disposed of after it: providers, tools, hooks. A promise says what
 * it needs of the implementation beside being made; what is not declared is skipped with its reason.
 */
import type { ConformanceCase } from "./case.ts";

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
  create(): Promise<Subject & { dispose?(): Promise<void> }>;
}

/** The cases of a suite for one implementation. */
export function casesOf<Subject, Capability extends string>(
  groups: readonly PromiseGroup<Subject, Capability>[],
  factory: SubjectFactory<Subject, Capability>,
): ConformanceCase[] {
  return groups.flatMap(({ group, promises }) =>
    promises.map(({ name, cites, needs, body }) => {
      const missing = needs.filter((need) => factory.capabilities[need] !== true);
      const run = async () => {
        const subject = await factory.create();
        try {
          await body(subject);
        } finally {
          // What the promise found matters more than that a broken subject cannot be disposed of.
          await subject.dispose?.().catch(() => undefined);
        }
      };
      const skip = `${factory.name} does not declare ${missing.join(" and ")}`;
      return { group, name, cites, run, ...(missing.length === 0 ? {} : { skip }) };
    }),
  );
}
