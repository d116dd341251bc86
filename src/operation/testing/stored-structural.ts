/** Stored structural work for the tests of validity: right in every state, and wrong in every way. */
import type {
  Entry,
  Operation,
  OperationState,
  RunState,
  StructuralDecision,
  SummaryContext,
} from "../../model/index.ts";
import type { CorruptionReason } from "../corruption-reasons.ts";
import { entry, run } from "./states.ts";
import { open, type Stored, user } from "./stored-lane.ts";
import {
  compacting,
  type GenerationOf,
  manual,
  moving,
  operationOf,
  summarized,
  summaryPending,
  summaryReady,
  summaryWait,
} from "./structural-states.ts";

const target: Entry = entry("e0", { role: "user", content: "before", timestamp: 1 });

/** A lane with structural work, everything that it names included. */
export function stored(state: OperationState, changes: Partial<Operation> = {}): Stored {
  const kind = state.kind === "navigation" ? "branch_summary" : "compaction";
  const isPrepared = state.kind !== "navigation" || state.summarize;
  return {
    registers: open(state, { ...operationOf(state), ...changes }),
    entries: [user, target],
    preparations: isPrepared ? [["O:t", { kind }]] : [],
  };
}

const GENERATIONS: [string, GenerationOf | undefined][] = [
  ["deciding", undefined],
  ["ready", summaryReady()],
  ["waiting", summaryWait()],
  ["at an attempt", summaryPending()],
  ["at a request", summaryPending(1, [], "U")],
  ["between two requests", summaryPending(1, ["U"])],
  ["at its second request", summaryPending(3, ["U"], "V")],
];

export const rightStructural: [string, Stored][] = [
  ...GENERATIONS.flatMap(([name, of]): [string, Stored][] => [
    [`a compaction ${name}`, stored(manual(of))],
    [`a navigation ${name}`, stored(summarized(of))],
    [`a compaction at a threshold ${name}`, stored(run(compacting("threshold", of)))],
    [`a compaction after an overflow ${name}`, stored(run(compacting("overflow", of)))],
  ]),
  ["a navigation that is ready to commit", stored(moving("e0", "here"))],
  ["a navigation to the root", stored(moving(null))],
  ["a failure of structural work", stored(drained())],
];

const context =
  (of: GenerationOf, changes: Partial<SummaryContext>): GenerationOf =>
  (right) =>
    of({ ...right, ...changes });

const goesBack = (reason: "threshold" | "overflow", to: "threshold" | "overflow"): RunState => {
  const [phase, other] = [compacting(reason), compacting(to)];
  if (phase.kind !== "compaction" || other.kind !== "compaction") throw new Error("no compaction");
  return run({ ...phase, resumeAfter: other.resumeAfter });
};

const withDecision = (structural: StructuralDecision): OperationState => ({ ...manual(), structural });

const without = (given: Stored): Stored => ({ ...given, preparations: [] });
const of = (given: Stored, kind: "compaction" | "branch_summary"): Stored => ({
  ...given,
  preparations: [["O:t", { kind }]],
});
const and = (given: Stored, id: string): Stored => ({
  ...given,
  entries: [...given.entries, entry(id, { role: "user", content: "", timestamp: 1 })],
});

/** Each with the reason with which it is refused. */
export const structuralCases: [CorruptionReason, string, Stored][] = [
  [
    "structural_mismatch",
    "a generation of another task",
    stored(manual(context(summaryReady(), { taskId: "other" }))),
  ],
  [
    "structural_mismatch",
    "a generation of another kind",
    stored(summarized(context(summaryReady(), { kind: "compaction" }))),
  ],
  [
    "structural_mismatch",
    "a manual generation for another reason",
    stored(manual(context(summaryReady(), { reason: "threshold" }))),
  ],
  [
    "structural_mismatch",
    "a generation for another reason",
    stored(run(compacting("overflow", context(summaryReady(), { reason: "threshold" })))),
  ],
  [
    "structural_mismatch",
    "a branch summary with a reason",
    stored(summarized(context(summaryPending(), { reason: "manual" }))),
  ],
  [
    "structural_mismatch",
    "a threshold compaction that goes back to an unmarked checkpoint",
    stored(goesBack("threshold", "overflow")),
  ],
  [
    "structural_mismatch",
    "an overflow compaction that goes back as if nothing had happened",
    stored(goesBack("overflow", "threshold")),
  ],
  [
    "attempt_beyond_policy",
    "a summary attempt that the policy does not have",
    stored(manual(summaryPending(4))),
  ],
  ["attempt_beyond_policy", "a planned one", stored(summarized(summaryReady(4)))],
  [
    "summary_requests_mismatch",
    "an open request that is not the next",
    stored(
      withDecision({
        taskId: "t",
        status: "generating",
        generation: {
          ...summaryPending()(contextOf()),
          request: { index: 1, usageId: "U" },
        } as never,
      }),
    ),
  ],
  ["summary_requests_mismatch", "a third request", stored(manual(summaryPending(1, ["U", "V"], "W")))],
  ["summary_requests_mismatch", "two requests with one bill", stored(manual(summaryPending(1, ["U"], "U")))],
  ["reserved_id_repeated", "a summary and its bill under one id", stored(manual(summaryPending(1, [], "S")))],
  [
    "structural_mismatch",
    "a compaction with other instructions than the intent's",
    stored(manual(), { intent: { kind: "compaction", customInstructions: "the numbers" } }),
  ],
  [
    "navigation_mismatch",
    "a navigation with other instructions than the intent's",
    stored(summarized(), {
      intent: { kind: "navigation", targetId: "e0", summarize: true, customInstructions: "the numbers" },
    }),
  ],
  ["source_leaf_moved", "a compaction whose lane has moved", stored(manual(), { sourceLeafId: "e0" })],
  ["source_leaf_moved", "a navigation whose lane has moved", stored(moving(null), { sourceLeafId: "e0" })],
  [
    "source_leaf_moved",
    "a compaction of nothing",
    { ...stored(manual(), { sourceLeafId: null }), registers: atRoot(manual()) },
  ],
  ["navigation_mismatch", "a navigation to where the lane stands", stored(moving("e1"))],
  ["navigation_mismatch", "a label for the root", stored(moving(null, "here"))],
  [
    "navigation_mismatch",
    "a navigation with another label than the intent's",
    stored(moving("e0", "here"), { intent: { kind: "navigation", targetId: "e0", summarize: false } }),
  ],
  [
    "navigation_mismatch",
    "a summary that nobody asked for",
    stored(summarized(), { intent: { kind: "navigation", targetId: "e0", summarize: false } }),
  ],
  ["navigation_mismatch", "a summary from the root", stored(summarized(), { sourceLeafId: null })],
  [
    "operation_kind_mismatch",
    "a compaction's intent under a navigation",
    stored(moving(), operationOf(manual())),
  ],
  ["entry_missing", "a navigation to what does not exist", { ...stored(moving()), entries: [user] }],
  [
    "entry_missing",
    "a compaction that goes back to what does not exist",
    stored(run({ ...compacting("overflow"), resumeAfter: awayFrom() } as never)),
  ],
  ...(["compaction", "navigation", "run"] as const).map((kind): [CorruptionReason, string, Stored] => [
    "preparation_missing",
    `a ${kind} whose structural work has no preparation`,
    without(stored(stateOf(kind))),
  ]),
  ["preparation_of_wrong_kind", "a compaction of a branch", of(stored(manual()), "branch_summary")],
  ["preparation_of_wrong_kind", "a branch summary of a context", of(stored(summarized()), "compaction")],
  ["preparation_of_wrong_kind", "a run's", of(stored(run(compacting("overflow"))), "branch_summary")],
  ["reserved_id_taken", "a summary that exists before its commit", and(stored(manual(summaryReady())), "S")],
  ["reserved_id_taken", "a bill that is an entry", and(stored(manual(summaryPending(1, ["U"]))), "U")],
  [
    "reserved_id_taken",
    "a bill to come that is an entry",
    and(stored(summarized(summaryPending(1, [], "U"))), "U"),
  ],
];

function stateOf(kind: OperationState["kind"]): OperationState {
  if (kind === "run") return run(compacting("threshold", summaryReady()));
  return kind === "compaction" ? manual() : summarized(summaryPending());
}

function contextOf(): SummaryContext {
  const state = manual(summaryReady());
  if (state.structural.status !== "generating") throw new Error("it is generating");
  return state.structural.generation.context;
}

function drained(): RunState {
  return run({
    kind: "failure_drain",
    error: { code: "summarization_failed", message: "no" },
    provenance: { kind: "structural", taskId: "t" },
  });
}

function atRoot(state: OperationState): Stored["registers"] {
  return { ...open(state, { ...operationOf(state), sourceLeafId: null }), leafId: null };
}

function awayFrom() {
  const phase = compacting("overflow");
  if (phase.kind !== "compaction") throw new Error("no compaction");
  return { ...phase.resumeAfter, triggerEntryId: "e9" };
}
