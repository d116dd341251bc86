/**
 * Recovery: the process dies at every commit of every scenario, before it and right after it; another life opens the
 * disk and resumes; and that life dies at each of its commits too. Whatever happened, the run ends, and every commit of
 * every life is one row of the specification's tables.
 */
import { describe, expect, it } from "vitest";
import { recognise, StoreModel } from "../checkers/index.ts";
import type { RetryPolicy, ToolExecutionMode } from "../model/index.ts";
import { type Answer, calls, failure, phaseAfter, text, tokens, World } from "./testing/scripted.ts";

interface Scenario {
  readonly turns: (Answer | Answer[])[];
  readonly retry?: RetryPolicy;
  readonly toolExecution?: ToolExecutionMode;
  readonly outcome?: "completed" | "failed";
}

const twice: RetryPolicy = { enabled: true, maxRetries: 1, baseDelayMs: 100 };
const two = calls({ id: "c1", name: "safe", args: { path: "a" } }, { id: "c2", name: "never" });

const SCENARIOS: Record<string, Scenario> = {
  "one answer": { turns: [text("hello")] },
  "one answer, one retry allowed": { turns: [text("hello")], retry: twice },
  "a retry": { turns: [[failure("overloaded"), text("hello")]], retry: twice },
  "retries used up": { turns: [failure("overloaded")], retry: twice, outcome: "failed" },
  "an error for good": { turns: [failure("invalid api key")], retry: twice, outcome: "failed" },
  "two tools in parallel": { turns: [two, text("done")], retry: twice },
  "two tools in sequence": { turns: [two, text("done")], retry: twice, toolExecution: "sequential" },
  "two rounds of tools": {
    turns: [calls({ id: "c1", name: "never" }), calls({ id: "c2", name: "safe" }), text("done")],
    retry: twice,
  },
  "a tool that ends the run": { turns: [calls({ id: "c1", name: "last" })], retry: twice },
  "a tool with costs of its own": {
    turns: [calls({ id: "c1", name: "costly" }), text("done")],
    retry: twice,
  },
  "a tool that throws": { turns: [calls({ id: "c1", name: "broken" }), text("done")], retry: twice },
  "calls that are refused": {
    turns: [
      calls(
        { id: "c1", name: "missing" },
        { id: "c2", name: "never", args: { path: 7 as never } },
        { id: "c3", name: "safe", args: { path: ["no"] } },
      ),
      text("done"),
    ],
    retry: twice,
    toolExecution: "sequential",
  },
  "calls after the output limit": {
    turns: [{ ...two, stopReason: "length", usage: tokens(10, 4096) }, text("done")],
    retry: twice,
  },
};

/** One life: opens, resumes what is open or asks for the first time, and may die. */
async function live(world: World, { retry, toolExecution }: Scenario): Promise<void> {
  const tools = [
    world.tool("safe", { replay: "safe" }),
    world.tool("never"),
    world.tool("last", { execute: async () => ({ details: {}, terminate: true }) }),
    world.tool("costly", { execute: async () => ({ details: {}, usage: tokens(3, 4) }) }),
    world.tool("broken", {
      execute: async () => {
        throw new Error("broken");
      },
    }),
  ];
  const options = { tools, ...(retry ? { retry } : {}), ...(toolExecution ? { toolExecution } : {}) };
  const { harness, suspended } = await world.boot(options);
  if (suspended.length > 0) {
    const resumed = await harness.resume();
    if (!resumed.ok) throw resumed.error;
    return;
  }
  if ((await harness.getLastResult()) !== undefined) return;
  const result = await harness.prompt("go");
  if (!result.ok) throw result.error;
}

/** Runs lives until one of them does not die. `deaths`: the commit of each life at which it dies. */
async function liveOn(scenario: Scenario, deaths: World["death"][]): Promise<World> {
  const world = new World(...scenario.turns);
  for (const death of [...deaths, undefined]) {
    world.death = death && { ...death, commit: world.commitCount + death.commit };
    const life = live(world, scenario);
    if (death === undefined) await life;
    else await life.then(undefined, () => undefined);
  }
  return world;
}

/** What has to hold at the end, whatever died. */
function check(world: World, scenario: Scenario): void {
  const { registers, entries, usage, stats } = world.disk.dump();
  expect(registers.filter(({ namespace }) => /^(op|pending)\./.test(namespace))).toEqual([]);
  expect(registers.find(({ namespace }) => namespace === "lane.state")?.value).toEqual({
    currentOperationId: null,
    pendingNextRun: [],
  });
  const asked = entries.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "assistant"
      ? entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
      : [],
  );
  const answered = entries.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : [],
  );
  expect(answered).toEqual(asked);
  expect(stats.usage.totalTokens).toBe(usage.reduce((sum, row) => sum + row.usage.totalTokens, 0));
  const executions = world.log.flatMap((line) => (line.kind === "tool" ? [line] : []));
  for (const name of ["never", "last", "costly", "broken"]) {
    const ids = executions.filter((line) => line.name === name).map(({ callId }) => callId);
    expect(new Set(ids).size, `${name} ran once per call`).toBe(ids.length);
  }
  const argumentsByCall = new Map<string, string>();
  for (const { callId, args } of executions) {
    const ran = JSON.stringify(args);
    expect(ran, `${callId} ran again with the stored arguments`).toBe(argumentsByCall.get(callId) ?? ran);
    argumentsByCall.set(callId, ran);
  }
  checkRows(world);
  checkIntents(world);
  const last = registers.find(({ namespace }) => namespace === "lane.lastResult")?.value;
  // Without a second attempt, or with it used up by a death, the request that was lost fails the run.
  const outcomes = [scenario.outcome ?? "completed", "failed"];
  expect(outcomes).toContain((last as { outcome?: unknown } | undefined)?.outcome);
}

function checkRows(world: World): void {
  const model = StoreModel.fresh();
  let incarnation = 0;
  const boundary = { kind: "effect", label: "tool", occurrence: 1 } as const;
  for (const line of world.log) {
    if (line.kind === "boot") model.observe({ kind: "boot", incarnation: incarnation++ });
    if (line.kind === "tool") {
      const row = { kind: "tool", tool: line.name, callId: line.callId, argumentsText: "" } as const;
      model.observe({ kind: "effect", boundary, row });
    }
    if (line.kind !== "commit") continue;
    const found = recognise(line.writes, model);
    expect(found.ok ? "a row" : found.message).toBe("a row");
    model.apply(line.writes, line.result);
  }
}

/** Effects come after their intent, and nothing durable came between that would have revoked it. */
function checkIntents(world: World): void {
  let phase: string | undefined;
  for (const line of world.log) {
    if (line.kind === "commit") phase = phaseAfter(line.writes) ?? phase;
    if (line.kind === "request") expect(phase).toBe("assistant effect_pending");
    if (line.kind === "tool") expect(phase).toBe("tools");
  }
}

describe.each(Object.entries(SCENARIOS))("%s", (_name, scenario) => {
  it("ends in one life", async () => {
    const world = await liveOn(scenario, []);
    check(world, scenario);
    const last = world.disk.dump().registers.find(({ namespace }) => namespace === "lane.lastResult");
    expect(last?.value).toMatchObject({ outcome: scenario.outcome ?? "completed" });
  });

  it("ends after a death at any commit", async () => {
    const commits = (await liveOn(scenario, [])).commitCount;
    for (const position of ["before", "after"] as const) {
      for (let commit = 0; commit < commits; commit++) {
        check(await liveOn(scenario, [{ commit, position }]), scenario);
      }
    }
  });

  it("ends after a death at any commit, and another one at any commit of the recovery", async () => {
    const commits = (await liveOn(scenario, [])).commitCount;
    // A death before a commit is the later one of two: everything up to it has happened.
    const position = "before";
    for (let commit = 0; commit < commits; commit++) {
      const first = { commit, position } as const;
      const recovery = (await liveOn(scenario, [first])).commitCount - commit;
      for (let second = 0; second < recovery; second++) {
        check(await liveOn(scenario, [first, { commit: second, position }]), scenario);
      }
    }
  });
});
