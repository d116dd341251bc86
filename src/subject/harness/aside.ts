/** A store whose reads are asked aside: they are the judges' and the application's, and no failing medium is met by them. */
import type { MediumFault } from "../../faults/index.ts";
import type { Storage } from "../../storage/index.ts";

/** `inner`, with its reads aside; the same store where nothing fails. See `MediumFault.aside`. */
export function readAside(inner: Storage, fault: MediumFault | undefined): Storage {
  if (fault === undefined) return inner;
  return {
    commit: (transaction) => inner.commit(transaction),
    getEntries: (ids) => fault.aside(() => inner.getEntries(ids)),
    getRegister: (namespace, key) => fault.aside(() => inner.getRegister(namespace, key)),
    listRegisters: (namespace, keyPrefix) => fault.aside(() => inner.listRegisters(namespace, keyPrefix)),
    scanBranch: (query) => fault.aside(() => inner.scanBranch(query)),
    scanBranchStructure: (query) => fault.aside(() => inner.scanBranchStructure(query)),
    scanEntries: (query) => fault.aside(() => inner.scanEntries(query)),
    scanUsage: (query) => fault.aside(() => inner.scanUsage(query)),
    getStats: () => fault.aside(() => inner.getStats()),
    close: () => inner.close(),
  };
}
