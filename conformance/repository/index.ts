/**
 * The repository suite: the contract of `src/session/repository/contract.ts`, as cases (spec §2.7 to §2.9, §9.3).
 *
 * Every case asserts what must be seen, value by value, so repositories that pass give equal results. `factory.ts` is
 * what a repository's author writes.
 *
 * Not checked here, because it is the business of single media: modes of files and folders, links, paths outside,
 * what two processes do to each other, and what is left when a step dies.
 */
import type { ConformanceCase } from "../case.ts";
import { toCases } from "./clause.ts";
import type { RepositoryFactory } from "./factory.ts";
import { forks } from "./forks.ts";
import { lifecycle } from "./lifecycle.ts";
import { rewrites } from "./rewrites.ts";
import { trees } from "./trees.ts";
import { versions } from "./versions.ts";

/** All cases of the repository contract for one repository. Makes nothing yet. */
export function createRepositoryConformance(factory: RepositoryFactory): ConformanceCase[] {
  return [lifecycle, trees, forks, rewrites, versions].flatMap((group) => toCases(group, factory));
}

export type { RepositoryFactory, RepositoryFactoryOptions, RepositoryHandle } from "./factory.ts";
