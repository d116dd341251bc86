/** A store that fails by itself, over one that does not: what has no medium below it fails in its own calls. */
import type { MediumFault, MediumFaultKind } from "../../faults/index.ts";
import { type Storage, StorageFault } from "../../storage/index.ts";

/** How a store in memory fails: before a commit has done anything, after it has done all, or in reading. */
export const STORE_FAULTS: readonly MediumFaultKind[] = [
  {
    name: "commit-refused",
    calls: ["commit"],
    lives: ["first", "next"],
    outcome: { kind: "throws", code: "STORAGE_FAULT", after: "nothing" },
  },
  {
    name: "commit-in-doubt",
    calls: ["commit"],
    lives: ["first", "next"],
    outcome: { kind: "throws", code: "STORAGE_FAULT", after: "all" },
  },
  {
    name: "read-failed",
    calls: ["read"],
    lives: ["first", "next"],
    outcome: { kind: "throws", code: "STORAGE_FAULT", after: "nothing" },
  },
];

/** See the module header. */
export function faultyStore(inner: Storage, fault: MediumFault): Storage {
  const call = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const outcome = fault.next(name);
    if (outcome === undefined) return work();
    const isDone = outcome.kind === "throws" && outcome.after === "all";
    if (isDone) await work();
    throw new StorageFault(`made to fail, ${name}`, undefined, !isDone);
  };
  return {
    commit: (transaction) => call("commit", () => inner.commit(transaction)),
    getEntries: (ids) => call("read", () => inner.getEntries(ids)),
    getRegister: (namespace, key) => call("read", () => inner.getRegister(namespace, key)),
    listRegisters: (namespace, keyPrefix) => call("read", () => inner.listRegisters(namespace, keyPrefix)),
    scanBranch: (query) => call("read", () => inner.scanBranch(query)),
    scanBranchStructure: (query) => call("read", () => inner.scanBranchStructure(query)),
    scanEntries: (query) => call("read", () => inner.scanEntries(query)),
    scanUsage: (query) => call("read", () => inner.scanUsage(query)),
    getStats: () => call("read", () => inner.getStats()),
    close: () => inner.close(),
  };
}
