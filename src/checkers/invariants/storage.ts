/**
 * The invariants of storage that a timeline can show (spec §9.1, 1 to 4).
 *
 * Not here: 2's "all or nothing" across a crash (`stored-state.ts` compares what is stored with what was confirmed),
 * and 5, which is about how reads are made.
 */
import { validateRegister } from "../../model/index.ts";
import { type Invariant, ofWrites } from "./invariant.ts";

export const STORAGE_INVARIANTS: readonly Invariant[] = [
  {
    number: 1,
    says: "entries and usage rows are written once, in one space of ids",
    before: ofWrites(["entry", "usage"], ({ writes }, model, breaks) => {
      const fresh = new Set<string>();
      for (const write of writes) {
        if (write.kind === "register") continue;
        const id = write.kind === "entry" ? write.entry.id : write.row.id;
        if (fresh.has(id)) breaks(`${write.kind} id twice in one transaction`, `id ${id} is inserted twice`);
        fresh.add(id);
        const old = model.entry(id) !== undefined ? "entry" : model.usageRow(id) && "usage row";
        if (old !== undefined) {
          breaks(`${write.kind} under an existing id`, `id ${id} is already the id of an ${old}`);
        }
      }
    }),
  },
  {
    number: 2,
    says: "seq rises strictly in the order of writes, over the whole session",
    before: {
      check: ({ writes, result }, model, breaks) => {
        if (result.seqs.length !== writes.length) {
          breaks("seqs missing", `${writes.length} writes were answered with ${result.seqs.length} seqs`);
        }
        if (result.seqs[0] !== result.firstSeq) {
          breaks("firstSeq", `firstSeq is ${result.firstSeq}, the first write got ${result.seqs[0]}`);
        }
        let last = model.lastSeq ?? 0;
        for (const seq of result.seqs) {
          if (seq <= last) breaks("seq does not rise", `seq ${seq} follows ${last}`);
          last = Math.max(last, seq);
        }
      },
    },
  },
  {
    number: 3,
    says: "a register holds a value of its namespace; null only where its type allows it",
    unreadable: (writes, breaks) => {
      for (const write of writes) {
        if (write.kind !== "register" || write.op !== "set") continue;
        const issue = validateRegister(write.namespace, write.value);
        if (issue === undefined) continue;
        breaks(
          `${write.namespace} holds no value of its type`,
          `${write.namespace}/${write.key} at ${issue.path || "its root"}: expected ${issue.expected}, found ${issue.found}`,
        );
      }
    },
  },
  {
    number: 4,
    says: "each payload exists in exactly one place",
    after: ofWrites(["entry", "set pending.entry", "delete pending.entry"], ({ writes }, model, breaks) => {
      for (const write of writes) {
        const id =
          write.kind === "entry"
            ? write.entry.id
            : write.kind === "register" && write.namespace === "pending.entry"
              ? write.key
              : undefined;
        if (id === undefined || model.entry(id) === undefined) continue;
        if (model.register("pending.entry", id) === undefined) continue;
        breaks(
          "an entry and its pending.entry register at once",
          `id ${id} has both an entry and a register`,
        );
      }
    }),
  },
];
