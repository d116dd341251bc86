/**
 * Structural work that an earlier process left: every state is put into a store, closed and opened again, and shown to
 * be reported, to start nothing by itself, and to go on with the right action to the right end (spec §4.4, §4.5).
 */
import { describe, expect, it } from "vitest";
import type {
  CheckpointPhase,
  DurableStructuralPreparation,
  LaneConfiguration,
  Operation,
  OperationState,
  RunState,
  StructuralDecision,
  SummaryContext,
  SummaryGeneration,
  Write,
} from "../model/index.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "../model/index.ts";
import { MemoryStorage } from "../storage/index.ts";
import { isSummaryRequest, text, World } from "./testing/scripted.ts";

const CONFIGURATION: LaneConfiguration = {
  model: { provider: "acme", modelId: "large" },
  thinkingLevel: "off",
  activeToolNames: [],
};
const TASK = "task";
const O = "operation";

/** What the table says of a decision, whoever owns it. */
type Generation = (context: SummaryContext) => SummaryGeneration;
const ready: Generation = (context) => ({ status: "ready", context, nextAttempt: 1 });
const waiting: Generation = (context) => ({
  status: "retry_wait",
  context,
  nextAttempt: 2,
  notBefore: 1_800_000_000_000,
  errorMessage: "overloaded",
});
const pending =
  (attempt: number, usageIds: string[] = [], usageId?: string): Generation =>
  (context) => ({
    status: "effect_pending",
    context,
    attempt,
    usageIds,
    ...(usageId === undefined ? {} : { request: { index: usageIds.length, usageId } }),
  });

type Owner = "compact" | "navigate" | "threshold" | "overflow";

/** A session whose lane `main` has said two turns, and an open operation in any state of structural work. */
async function left(owner: Owner, generation: Generation | undefined, cancelled = false) {
  const world = new World(text("one"), text("two"), text("three"));
  world.summaries = [text("SUMMARY")];
  const { harness } = await world.boot();
  await harness.prompt("first");
  await harness.prompt("second");
  await harness.close();
  const ids = world.disk.dump().entries.map(({ id }) => id);
  const leafId = ids[3] ?? "";
  const target = ids[1] ?? "";
  const state = stateOf(owner, decisionOf(owner, generation), target, leafId, cancelled);
  const operation: Operation = {
    operationId: O,
    lane: "main",
    sourceLeafId: leafId,
    startedAt: world.clock.now(),
    intent: intentOf(owner, target),
  };
  const storage = new MemoryStorage({ disk: world.disk, clock: world.clock });
  const set = (namespace: string, key: string, value: unknown) =>
    ({ kind: "register", op: "set", namespace, key, value }) as Write;
  await storage.commit({
    writes: [
      set("op.preparation", `${O}:${TASK}`, preparationOf(owner)),
      set("op.meta", O, operation),
      set("op.state", O, state),
      set("lane.state", "main", { currentOperationId: O, pendingNextRun: [] }),
    ],
  });
  await storage.close();
  const asked = world.requests.length;
  return {
    world,
    leafId,
    target,
    askedSince: () => world.requests.slice(asked).filter(isSummaryRequest).length,
  };
}

const HOOKED = { isHooked: true };
const UNHOOKED = { isHooked: false };

/** The next action, in every state, and how many summaries are asked for until the end. */
const STATES: [string, Generation | undefined, { isHooked: boolean }, string, number][] = [
  ["deciding, without hooks", undefined, UNHOOKED, "commit summary_started", 1],
  ["deciding, with hooks", undefined, HOOKED, "ask the hooks", 0],
  ["ready", ready, UNHOOKED, "commit summary_attempt_started", 1],
  ["ready, with hooks that are not asked again", ready, HOOKED, "commit summary_attempt_started", 1],
  ["waiting", waiting, UNHOOKED, "sleep", 1],
  ["at an attempt that asked nothing", pending(1), UNHOOKED, "commit summary_attempt_given_up", 1],
  ["at a request", pending(1, [], "usage-1"), UNHOOKED, "commit summary_attempt_given_up", 1],
  ["between two requests", pending(1, ["usage-1"]), UNHOOKED, "commit summary_attempt_given_up", 1],
];

const OWNERS: [Owner, string, object, object][] = [
  ["compact", "compaction", { kind: "completed" }, { kind: "declined" }],
  ["navigate", "navigation", { kind: "completed" }, { kind: "declined" }],
  ["threshold", "run", { kind: "completed" }, { kind: "completed" }],
  ["overflow", "run", { kind: "completed" }, { kind: "failed", error: { code: "compaction_declined" } }],
];

const table = OWNERS.flatMap(([owner, operation, done, declined]) =>
  STATES.map(([name, generation, { isHooked }, action, requests]) => {
    const end = isHooked && generation === undefined ? declined : done;
    return [owner, name, { operation, generation, isHooked, action, requests, end }] as const;
  }),
);

describe("structural work of an earlier process", () => {
  it.each(table)("%s, %s: goes on from what is stored", async (owner, _name, row) => {
    const { world, askedSince } = await left(owner, row.generation);
    const before = JSON.stringify(world.disk.dump());
    const { harness, suspended } = await world.boot({ drive: "manual" });
    if (row.isHooked) {
      harness.hooks.on("before_compaction", () => ({ decline: true }));
      harness.hooks.on("before_navigation", () => ({ decline: true }));
    }
    expect(suspended).toMatchObject([{ operationId: O, kind: row.operation, reason: "crash" }]);
    const resumed = harness.resume();
    expect((await harness.peekAction())?.description).toContain(row.action);
    expect(JSON.stringify(world.disk.dump())).toBe(before);
    await harness.runToCompletion();
    expect(await resumed).toMatchObject({
      ok: true,
      value: { operation: row.operation, runId: O, ...row.end },
    });
    expect(askedSince()).toBe(row.requests);
    expect(await harness.getLastResult()).toMatchObject({ operationId: O });
  });

  it.each([
    ["compact", { kind: "failed", error: { code: "interrupted" } }],
    ["navigate", { kind: "failed", error: { code: "interrupted" } }],
    ["threshold", { kind: "failed", error: { code: "interrupted" } }],
    ["overflow", { kind: "failed", error: { code: "interrupted" } }],
  ] as const)("%s, at the last attempt: fails, and asks nobody", async (owner, end) => {
    const { world, leafId, askedSince } = await left(owner, pending(2, [], "usage-1"));
    const { harness } = await world.boot();
    expect(await harness.resume()).toMatchObject({ ok: true, value: end });
    expect(askedSince()).toBe(0);
    expect(await harness.getLeafId()).toBe(leafId);
  });

  it.each(["compact", "navigate", "threshold", "overflow"] as const)(
    "%s, cancelled in any state: ends as aborted, and asks nobody",
    async (owner) => {
      for (const [, generation] of STATES) {
        const { world, leafId, askedSince } = await left(owner, generation, true);
        const { harness, suspended } = await world.boot();
        expect(suspended).toMatchObject([{ aborting: { steer: [], followUp: [] } }]);
        expect(await harness.resume()).toMatchObject({ ok: true, value: { kind: "aborted", leafId } });
        expect(askedSince()).toBe(0);
      }
    },
  );

  it("is a navigation that is ready to commit: it moves", async () => {
    const { world, target } = await left("navigate", undefined);
    const storage = new MemoryStorage({ disk: world.disk, clock: world.clock });
    const intent = { kind: "navigation", targetId: target, summarize: false } as const;
    const meta = world.disk.dump().registers.find(({ namespace }) => namespace === "op.meta");
    await storage.commit({
      writes: [
        {
          kind: "register",
          op: "set",
          namespace: "op.meta",
          key: O,
          value: { ...(meta?.value as Operation), intent },
        },
        {
          kind: "register",
          op: "set",
          namespace: "op.state",
          key: O,
          value: { ...intent, control: { status: "running" }, phase: { kind: "ready_to_commit" } },
        },
      ],
    });
    await storage.close();
    const { harness } = await world.boot({ drive: "manual" });
    const resumed = harness.resume();
    expect(await harness.peekAction()).toMatchObject({ kind: "commit_terminal" });
    await harness.runToCompletion();
    expect(await resumed).toMatchObject({
      value: { operation: "navigation", kind: "completed", newLeafId: target },
    });
  });

  it("is not resumed while its model is not registered, and spends no attempt", async () => {
    const { world } = await left("compact", ready);
    world.hasModel = false;
    const { harness } = await world.boot();
    const before = JSON.stringify(world.disk.dump());
    expect(await harness.resume()).toMatchObject({
      ok: false,
      error: { _tag: "MissingIdentities", models: ["acme/large"] },
    });
    expect(JSON.stringify(world.disk.dump())).toBe(before);
  });
});

function decisionOf(owner: Owner, generation: Generation | undefined): StructuralDecision {
  if (generation === undefined) return { taskId: TASK, status: "deciding" };
  const context: SummaryContext = {
    taskId: TASK,
    resultEntryId: "summary",
    kind: owner === "navigate" ? "branch_summary" : "compaction",
    configuration: CONFIGURATION,
    streamOptions: {},
    retryPolicy: { maxAttempts: 2, baseDelayMs: 100 },
    ...(owner === "navigate" ? {} : { reason: owner === "compact" ? "manual" : owner }),
  };
  return { taskId: TASK, status: "generating", generation: generation(context) };
}

function intentOf(owner: Owner, targetId: string): Operation["intent"] {
  if (owner === "compact") return { kind: "compaction" };
  if (owner === "navigate") return { kind: "navigation", targetId, summarize: true };
  return { kind: "run", promptEntryIds: [] };
}

function stateOf(
  owner: Owner,
  structural: StructuralDecision,
  targetId: string,
  leafId: string,
  isCancelled: boolean,
): OperationState {
  const control = isCancelled
    ? ({ status: "cancel_requested", requestedAt: 1, drainedSteer: [], drainedFollowUp: [] } as const)
    : ({ status: "running" } as const);
  const mutable = control as RunState["control"];
  if (owner === "compact") return { kind: "compaction", control: mutable, structural };
  if (owner === "navigate") {
    const phase = { kind: "summary", structural } as const;
    return { kind: "navigation", control: mutable, summarize: true, targetId, phase };
  }
  const resumeAfter: CheckpointPhase = {
    kind: "checkpoint",
    continuation: { kind: "need_assistant", overflowRecoveryUsed: owner === "overflow" },
    triggerEntryId: leafId,
    ...(owner === "threshold" ? { thresholdCheckedTriggerEntryId: leafId } : {}),
  };
  return {
    kind: "run",
    control: mutable,
    settings: {
      compaction: { ...DEFAULT_COMPACTION_SETTINGS },
      steeringMode: "one-at-a-time",
      followUpMode: "one-at-a-time",
      toolExecution: "parallel",
    },
    phase: { kind: "compaction", reason: owner, structural, resumeAfter },
    inbox: { steer: [], followUp: [], writes: [] },
    latestAssistantEntryId: null,
  };
}

function preparationOf(owner: Owner): DurableStructuralPreparation {
  const messages = [{ role: "user", content: "old", timestamp: 1 } as const];
  const fileOps = { read: [], written: [], edited: [] };
  if (owner === "navigate") return { kind: "branch_summary", messages, fileOps, totalTokens: 1 };
  return {
    kind: "compaction",
    messagesToSummarize: messages,
    turnPrefixMessages: [],
    retainedTail: [{ role: "user", content: "kept", timestamp: 1 }],
    isSplitTurn: false,
    tokensBefore: 10,
    fileOps,
    settings: { ...DEFAULT_COMPACTION_SETTINGS },
  };
}
