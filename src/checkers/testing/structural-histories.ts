/** Right histories of compactions and navigations; see `histories.ts`. */
import type {
  DurableStructuralPreparation,
  EntryDraft,
  LaneLastResult,
  Operation,
  OperationState,
  StructuralDecision,
  SummaryContext,
  SummaryGeneration,
  Write,
} from "../../model/index.ts";
import { History } from "./history.ts";
import { CONFIGURATION, drop, set, usageOf } from "./values.ts";

const TASK = "task";
export const preparation = (kind: DurableStructuralPreparation["kind"]): DurableStructuralPreparation => {
  const fileOps = { read: [], written: [], edited: [] };
  if (kind === "branch_summary") return { kind, messages: [], fileOps, totalTokens: 10 };
  return {
    kind,
    messagesToSummarize: [],
    turnPrefixMessages: [],
    retainedTail: [{ role: "user", content: "kept", timestamp: 0 }],
    isSplitTurn: false,
    tokensBefore: 100,
    fileOps,
    settings: { enabled: true, reserveTokens: 100, keepRecentTokens: 100 },
  };
};

/** Accepts a structural operation of its own. */
function accept(
  history: History,
  label: string,
  intent: Operation["intent"],
  state: OperationState,
): History {
  const operationId = history.id();
  const meta: Operation = {
    operationId,
    lane: "main",
    sourceLeafId: history.leaf,
    startedAt: history.clock.now(),
    intent,
  };
  const isPrepared = intent.kind === "compaction" || (intent.kind === "navigation" && intent.summarize);
  const prepared = preparation(intent.kind === "compaction" ? "compaction" : "branch_summary");
  return history.commit(label, [
    ...(isPrepared ? [set("op.preparation", `${operationId}:${TASK}`, prepared)] : []),
    set("op.meta", operationId, meta),
    set("op.state", operationId, state),
    set("lane.state", "main", { ...history.lane, currentOperationId: operationId }),
  ]);
}

const running = { status: "running" } as const;
const deciding: StructuralDecision = { taskId: TASK, status: "deciding" };

/** A lane with a little conversation. */
const conversation = () =>
  new History({ maxAttempts: 2 }).seed().prompt().ready().intent().request(0).settleFinish().completed();

/** A compaction of its own that is deciding. */
export const compacting = () =>
  accept(
    conversation(),
    "acceptance.compact",
    { kind: "compaction", customInstructions: "short" },
    { kind: "compaction", control: running, customInstructions: "short", structural: deciding },
  );

const first = (history: History): string => history.model.entries()[0]?.id ?? "";

const navigating = (history = conversation(), label?: string) => {
  const where = { targetId: first(history), ...(label === undefined ? {} : { label }) };
  return accept(
    history,
    "acceptance.navigate-summarized",
    { kind: "navigation", summarize: true, ...where },
    {
      kind: "navigation",
      control: running,
      summarize: true,
      ...where,
      phase: { kind: "summary", structural: deciding },
    },
  );
};

const moving = (history = conversation(), label?: string) => {
  const where = { targetId: first(history), ...(label === undefined ? {} : { label }) };
  return accept(
    history,
    "acceptance.navigate",
    { kind: "navigation", summarize: false, ...where },
    { kind: "navigation", control: running, summarize: false, ...where, phase: { kind: "ready_to_commit" } },
  );
};

/** The operation of any kind that is open. */
const opened = (history: History): OperationState => {
  const state = history.model.value("op.state", history.operationId);
  if (state === undefined) throw new Error("no operation is open");
  return state;
};

function withDecision(state: OperationState, structural: StructuralDecision): OperationState {
  switch (state.kind) {
    case "compaction":
      return { ...state, structural };
    case "navigation":
      return state.summarize ? { ...state, phase: { kind: "summary", structural } } : state;
    case "run":
      return state.phase.kind === "compaction" ? { ...state, phase: { ...state.phase, structural } } : state;
  }
}

const decisionOf = (state: OperationState): StructuralDecision => {
  if (state.kind === "compaction") return state.structural;
  if (state.kind === "navigation" && state.summarize) return state.phase.structural;
  if (state.kind === "run" && state.phase.kind === "compaction") return state.phase.structural;
  throw new Error("nothing structural is open");
};
const generationOf = (history: History): SummaryGeneration => {
  const decision = decisionOf(opened(history));
  if (decision.status !== "generating") throw new Error("nothing is generated");
  return decision.generation;
};
/** The attempt that is under way. */
export const attemptOf = (history: History) => {
  const generation = generationOf(history);
  if (generation.status !== "effect_pending") throw new Error("no attempt is under way");
  return generation;
};

/** Moves the generation, alone or with other writes before it. */
function generation(
  history: History,
  label: string,
  next: SummaryGeneration,
  writes: readonly Write[] = [],
): History {
  const decision: StructuralDecision = { taskId: TASK, status: "generating", generation: next };
  return history.commit(label, [
    ...writes,
    set("op.state", history.operationId, withDecision(opened(history), decision)),
  ]);
}

/** Why a compaction is made; nothing for a summary of a branch. */
function reasonOf(state: OperationState): Pick<SummaryContext, "reason"> {
  if (state.kind === "compaction") return { reason: "manual" };
  return state.kind === "run" && state.phase.kind === "compaction" ? { reason: state.phase.reason } : {};
}

/** No hook answers: the summary is generated. */
export function generate(history: History): History {
  const kind = opened(history).kind === "navigation" ? "branch_summary" : "compaction";
  const context: SummaryContext = {
    taskId: TASK,
    resultEntryId: history.id(),
    kind,
    configuration: CONFIGURATION,
    streamOptions: {},
    retryPolicy: { maxAttempts: 2, baseDelayMs: 1000 },
    ...reasonOf(opened(history)),
  };
  return generation(history, "structural.generate", { status: "ready", context, nextAttempt: 1 });
}

/** An attempt begins. */
export function attempt(history: History): History {
  const { context, ...rest } = generationOf(history);
  const next = "nextAttempt" in rest ? rest.nextAttempt : 0;
  return generation(history, "structural.intent", {
    status: "effect_pending",
    context,
    attempt: next,
    usageIds: [],
  });
}

/** A nested request that was sent. */
export function send(history: History): History {
  const pending = attemptOf(history);
  const usageId = history.id();
  generation(history, "structural.request", {
    ...pending,
    request: { index: pending.usageIds.length, usageId },
  });
  const { index } = attemptOf(history).request ?? { index: 0 };
  history.effect({
    kind: "summary",
    task: 0,
    index,
    attempt: pending.attempt,
    usage: { input: 10, output: 5 },
  });
  return history;
}

/** One nested request, from its intent to its settlement. */
export function request(history: History): History {
  send(history);
  const { request: open, ...rest } = attemptOf(history);
  const usageId = open?.usageId ?? "";
  return generation(
    history,
    "structural.request.settle",
    { ...rest, usageIds: [...rest.usageIds, usageId] },
    [{ kind: "usage", row: { id: usageId, adjustment: false, usage: usageOf(10, 5) } }],
  );
}

const retry = (history: History): History => {
  const { context, attempt: number } = attemptOf(history);
  const wait = { notBefore: history.clock.now() + 1000, errorMessage: "overloaded" };
  return generation(history, "structural.retry", {
    status: "retry_wait",
    context,
    nextAttempt: number + 1,
    ...wait,
  });
};
/** An attempt of an earlier life is given up. */
export const retryUnknown = (history: History): History => {
  const { context, attempt: number } = attemptOf(history);
  return generation(history, "structural.retry-unknown", {
    status: "ready",
    context,
    nextAttempt: number + 1,
  });
};

const compaction = (history: History, fromHook: boolean): Write => ({
  kind: "entry",
  entry: {
    type: "compaction",
    id: fromHook ? history.id() : attemptOf(history).context.resultEntryId,
    parentId: history.leaf,
    summary: "short",
    retainedTail: fromHook ? [] : [{ role: "user", content: "kept", timestamp: 0 }],
    tokensBefore: 100,
    fromHook,
  },
});
const idOf = (write: Write): string => (write.kind === "entry" ? write.entry.id : "");

/** The end of a structural operation, after what it publishes. */
export function end(
  history: History,
  label: string,
  published: readonly Write[],
  leafId: string | null,
  rest: object,
): History {
  const { operationId } = history;
  const result = { operationId, kind: opened(history).kind, leafId, ...rest } as LaneLastResult;
  return history.commit(label, [
    ...published,
    drop("op.meta", operationId),
    drop("op.state", operationId),
    ...history.model
      .registers("op.preparation", `${operationId}:`)
      .map(({ key }) => drop("op.preparation", key)),
    set("lane.lastResult", "main", result),
    set("lane.state", "main", { ...history.lane, currentOperationId: null }),
  ]);
}

function endCompaction(history: History, fromHook: boolean, hookUsage: readonly Write[] = []): History {
  const entry = compaction(history, fromHook);
  const published = [...hookUsage, entry, set("lane.leaf", "main", idOf(entry))];
  const label = fromHook ? "manual.from-hook" : "manual.generated";
  return end(history, label, published, idOf(entry), { outcome: "completed" });
}

function endNavigation(history: History, fromHook: boolean, label?: string): History {
  const target = first(history);
  const entry: EntryDraft = {
    type: "branch_summary",
    id: fromHook ? history.id() : attemptOf(history).context.resultEntryId,
    parentId: target,
    fromId: history.leaf ?? "",
    summary: "left behind",
    fromHook,
  };
  const published = [
    set("lane.leaf", "main", target),
    { kind: "entry", entry } as const,
    set("lane.leaf", "main", entry.id),
    ...(label === undefined ? [] : [set("fact.label", entry.id, label)]),
  ];
  const name = fromHook ? "navigation.from-hook" : "navigation.generated";
  return end(history, name, published, entry.id, { outcome: "completed" });
}

const failed = { outcome: "failed", error: { code: "summary_failed", message: "no summary" } } as const;

/** The first abort of a structural operation. */
export const cancel = (history: History): History =>
  history.state("structural.abort", {
    ...opened(history),
    control: {
      status: "cancel_requested",
      requestedAt: history.clock.now(),
      drainedSteer: [],
      drainedFollowUp: [],
    },
  });

/** A run whose context is too long at its first checkpoint. */
function threshold(): History {
  const history = new History({ maxAttempts: 2 }).seed().prompt();
  const { phase } = history.run;
  if (phase.kind !== "checkpoint") throw new Error("no checkpoint");
  const resumeAfter = { ...phase, thresholdCheckedTriggerEntryId: phase.triggerEntryId };
  return history.commit("compaction.threshold", [
    set("op.preparation", `${history.operationId}:${TASK}`, preparation("compaction")),
    set("op.state", history.operationId, {
      ...history.run,
      phase: { kind: "compaction", reason: "threshold", structural: deciding, resumeAfter },
    }),
  ]);
}

/** A run whose first request did not fit. */
function overflow(): History {
  const history = new History({ maxAttempts: 2 }).seed().prompt().ready().intent().request(0);
  const { context, responseEntryId } = history.pending;
  const settled =
    history.fork().settleFailed("x", "prompt is too long", usageOf(10, 5)).steps.at(-1)?.writes ?? [];
  return history.commit("generation.settle.overflow", [
    ...settled.slice(0, 3),
    set("op.preparation", `${history.operationId}:${TASK}`, preparation("compaction")),
    set("op.state", history.operationId, {
      ...history.run,
      latestAssistantEntryId: responseEntryId,
      phase: {
        kind: "compaction",
        reason: "overflow",
        structural: deciding,
        resumeAfter: {
          kind: "checkpoint",
          continuation: { kind: "need_assistant", overflowRecoveryUsed: true },
          triggerEntryId: context.triggerEntryId,
        },
      },
    }),
  ]);
}

const compactionPhase = (history: History) => {
  const { phase } = history.run;
  if (phase.kind !== "compaction") throw new Error("no compaction");
  return phase;
};

function resume(history: History, label: string, published: readonly Write[] = []): History {
  const phase = compactionPhase(history).resumeAfter;
  return history.commit(label, [
    ...published,
    set("op.state", history.operationId, { ...history.run, phase }),
  ]);
}

const drain = (history: History, label: string): History =>
  history.state(label, {
    ...history.run,
    phase: {
      kind: "failure_drain",
      error: { code: "summary_failed", message: "no summary" },
      provenance: { kind: "structural", taskId: compactionPhase(history).structural.taskId },
    },
  });

function resumeCompacted(history: History, fromHook: boolean): History {
  const entry = compaction(history, fromHook);
  const published = [entry, set("lane.leaf", "main", idOf(entry))];
  return resume(history, fromHook ? "compaction.from-hook" : "compaction.generated", published);
}

const hookUsage = (history: History): Write => ({
  kind: "usage",
  row: { id: history.id(), adjustment: false, usage: usageOf(0, 0) },
});

export const structuralHistories: Record<string, () => History> = {
  "a compaction of its own, in two requests, after a retry and a crash": () => {
    const history = retry(request(attempt(generate(compacting()))));
    const lost = attempt(history.timer(1000));
    return endCompaction(request(request(lost)), false);
  },
  "a compaction whose attempt is lost": () => {
    const history = retryUnknown(request(attempt(generate(compacting()))).crash());
    return endCompaction(request(attempt(history)), false);
  },
  "a compaction that its hook supplies": () => {
    const history = compacting();
    return endCompaction(history, true, [hookUsage(history)]);
  },
  "a compaction that is declined": () => {
    const history = compacting();
    return end(history, "structural.declined", [], history.leaf, { outcome: "declined" });
  },
  "a compaction that fails": () => {
    const history = request(attempt(generate(compacting())));
    return end(history, "structural.failed", [], history.leaf, failed);
  },
  "a compaction that is aborted": () => {
    const history = cancel(attempt(generate(compacting())));
    return end(history, "structural.aborted", [], history.leaf, { outcome: "aborted" });
  },
  "a navigation": () => {
    const history = moving();
    const target = first(history);
    return end(history, "navigation.moved", [set("lane.leaf", "main", target)], target, {
      outcome: "completed",
    });
  },
  "a navigation with a label": () => {
    const history = moving(conversation(), "here");
    const target = first(history);
    const published = [set("lane.leaf", "main", target), set("fact.label", target, "here")];
    return end(history, "navigation.moved", published, target, { outcome: "completed" });
  },
  "a navigation with a generated summary": () =>
    endNavigation(request(attempt(generate(navigating()))), false),
  "a navigation with its hook's summary and a label": () =>
    endNavigation(navigating(conversation(), "left"), true, "left"),
  "a context that is too long, compacted": () =>
    resumeCompacted(request(attempt(generate(threshold()))), false)
      .ready()
      .intent()
      .request(0)
      .settleFinish()
      .completed(),
  "a context that is too long, compacted by the hook": () =>
    resumeCompacted(threshold(), true).ready().intent().request(0).settleFinish().completed(),
  "a context that is too long, left alone": () =>
    resume(threshold(), "compaction.declined").ready().intent().request(0).settleFinish().completed(),
  "a context with nothing to compact": () => {
    const history = new History().seed().prompt();
    const { phase } = history.run;
    if (phase.kind !== "checkpoint") throw new Error("no checkpoint");
    const marked = { ...phase, thresholdCheckedTriggerEntryId: phase.triggerEntryId };
    return history
      .state("checkpoint.threshold-checked", { ...history.run, phase: marked })
      .ready()
      .intent()
      .request(0)
      .settleFinish()
      .completed();
  },
  "an overflow, compacted": () =>
    resumeCompacted(request(attempt(generate(overflow()))), false)
      .ready()
      .intent()
      .request(0, 2)
      .settleFinish()
      .completed(),
  "an overflow whose compaction fails": () =>
    drain(request(attempt(generate(overflow()))), "compaction.failed").failed(),
  "an overflow whose compaction is declined": () =>
    drain(overflow(), "compaction.declined-overflow").failed(),
};
