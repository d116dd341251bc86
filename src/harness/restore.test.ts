/**
 * Restore: what is read, what is refused, what is reported (spec §4.4). The checks themselves are tested in
 * `operation/validity.test.ts`; here it is shown that opening runs them and starts nothing.
 */
import { describe, expect, it } from "vitest";
import { Corruption } from "../foundation/index.ts";
import type { LaneConfiguration, Operation, RegisterNamespace, RunState, Write } from "../model/index.ts";
import { Session } from "../session/index.ts";
import { MemoryStorage, type Storage } from "../storage/index.ts";
import { AgentHarness } from "./agent-harness.ts";
import { calls, MODEL, text, World } from "./testing/scripted.ts";

/** A run that died with its first call started. */
async function halfway(): Promise<World> {
  const world = new World(calls({ id: "c1", name: "read" }, { id: "c2", name: "read" }), text("done"));
  const { harness } = await world.boot({ tools: [world.tool("read")], toolExecution: "sequential" });
  world.death = { commit: 6, position: "before" };
  await harness.prompt("go").catch(() => undefined);
  world.death = undefined;
  return world;
}

const registersOf = (world: World, namespace: RegisterNamespace) =>
  world.disk.dump().registers.filter((register) => register.namespace === namespace);

async function rewrite(world: World, ...writes: Write[]): Promise<void> {
  await new MemoryStorage({ disk: world.disk, clock: world.clock }).commit({ writes });
}

describe("opening a session", () => {
  it("configures a fresh main once, and never again whatever the options say", async () => {
    const world = new World(text("hello"));
    await world.boot({ thinkingLevel: "low" });
    expect(registersOf(world, "lane.config")[0]?.value).toEqual({
      model: { provider: "acme", modelId: "large" },
      thinkingLevel: "low",
      activeToolNames: [],
    });
    await world.boot({ thinkingLevel: "high" });
    expect(world.commitCount).toBe(1);
    expect(registersOf(world, "lane.config")[0]?.value).toMatchObject({ thinkingLevel: "low" });
  });

  it("is for one harness: a second one over the same session would drive what the first drives", async () => {
    const world = await halfway();
    const { session, harness } = await world.boot({ tools: [world.tool("read")] });
    const options = { session, models: world.models(), model: MODEL, clock: world.clock };
    await expect(AgentHarness.create(options)).rejects.toThrow(TypeError);
    await session.setName("still driven by the first");
    expect(await harness.abort()).toMatchObject({ ok: true });
  });

  it("writes nothing and starts nothing where an operation is open", async () => {
    const world = await halfway();
    const before = JSON.stringify(world.disk.dump());
    const { suspended } = await world.boot({ tools: [world.tool("read")] });
    expect(suspended).toMatchObject([
      {
        lane: "main",
        kind: "run",
        reason: "crash",
        prompt: [{ role: "user" }],
        missing: { tools: [], models: [] },
      },
    ]);
    expect(JSON.stringify(world.disk.dump())).toBe(before);
    expect(world.requests).toHaveLength(1);
    expect(world.executions).toHaveLength(1);
  });

  it("reports what is missing of what the open step has captured, whatever the lane was set to since", async () => {
    const world = await halfway();
    const { harness } = await world.boot({ tools: [world.tool("read")] });
    await harness.setActiveTools(["another"]);
    await harness.close();
    const { suspended } = await world.boot();
    expect(suspended).toMatchObject([{ missing: { tools: ["read"], models: [] } }]);
  });

  it("reads registers and named entries by point, and never scans", async () => {
    const world = await halfway();
    const reads: string[] = [];
    const storage = new MemoryStorage({ disk: world.disk, clock: world.clock });
    const watched = new Proxy<Storage>(storage, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property, target);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          reads.push([property, ...args.filter((arg) => typeof arg === "string")].join(" "));
          return member.apply(target, args);
        };
      },
    });
    const idGenerator = { next: () => "never" };
    const session = new Session({ storage: watched, metadata: storage.metadata, idGenerator });
    await AgentHarness.create({ session, models: world.models(), model: MODEL, clock: world.clock });
    const O = registersOf(world, "op.meta")[0]?.key;
    const step = registersOf(world, "op.tool_args")[0]?.key;
    expect(reads).toEqual([
      "listRegisters lane.state",
      "listRegisters lane.leaf",
      "getRegister lane.config main",
      "getRegister lane.leaf main",
      `getRegister op.meta ${O}`,
      `getRegister op.state ${O}`,
      "getEntries",
      `getRegister op.tool_args ${step}`,
    ]);
  });

  const cases: [string, string, (world: World) => Write][] = [
    [
      "operation_state_missing",
      "a lane whose operation lost its state",
      (world) => remove("op.state", registersOf(world, "op.state")[0]?.key),
    ],
    [
      "tool_arguments_missing",
      "a started call without its arguments",
      (world) => remove("op.tool_args", registersOf(world, "op.tool_args")[0]?.key),
    ],
    [
      "entry_missing",
      "a source leaf that does not exist",
      (world) => {
        const [meta] = registersOf(world, "op.meta");
        const value = { ...(meta?.value as Operation), sourceLeafId: "gone" };
        return { kind: "register", op: "set", namespace: "op.meta", key: meta?.key ?? "", value };
      },
    ],
    [
      "latest_response_mismatch",
      "a batch of another response than the newest",
      (world) => stateWith(world, (state) => ({ ...state, latestAssistantEntryId: "gone" })),
    ],
    ["run_leaf_moved", "a run whose lane stands at the root", () => leafAt("main", null)],
    [
      "reserved_id_taken",
      "a planned result that exists",
      (world) =>
        stateWith(world, (state) => {
          if (state.phase.kind !== "tools") throw new Error("not at tools");
          const { batch } = state.phase;
          const calls = batch.calls.map((call) => ({ ...call, resultEntryId: batch.assistantEntryId }));
          const [first, second] = calls;
          if (!first || !second) throw new Error("no calls");
          return {
            ...state,
            phase: { kind: "tools", batch: { ...batch, calls: [first, { ...second, resultEntryId: "x" }] } },
          };
        }),
    ],
    ["lane_leaf_missing", "a lane without leaf", () => remove("lane.leaf", "main")],
    ["lane_config_missing", "an open main without configuration", () => remove("lane.config", "main")],
    ["lane_state_missing", "a session without main", () => remove("lane.state", "main")],
    ["lane_state_missing", "a lane with a leaf alone", () => leafAt("side", null)],
  ];
  it.each(cases)("refuses %s: %s", async (reason, _name, damage) => {
    const world = await halfway();
    await rewrite(world, damage(world));
    const before = JSON.stringify(world.disk.dump());
    const opening = world.boot({ tools: [world.tool("read")] });
    await expect(opening).rejects.toBeInstanceOf(Corruption);
    await expect(opening).rejects.toThrow(`[${reason}]`);
    expect(JSON.stringify(world.disk.dump())).toBe(before);
  });

  it("validates idle lanes too, and restores every lane", async () => {
    const world = new World(text("hello"));
    await world.boot();
    const configuration = registersOf(world, "lane.config")[0]?.value as LaneConfiguration;
    const lane = (name: string, leafId: string | null): Write[] => [
      { kind: "register", op: "set", namespace: "lane.config", key: name, value: configuration },
      { kind: "register", op: "set", namespace: "lane.leaf", key: name, value: leafId },
      {
        kind: "register",
        op: "set",
        namespace: "lane.state",
        key: name,
        value: { currentOperationId: null, pendingNextRun: [] },
      },
    ];
    await rewrite(world, ...lane("aside", null));
    const { harness } = await world.boot();
    const aside = await harness.lane("aside");
    expect(await aside?.prompt("go")).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(await harness.getLeafId()).toBeNull();
    expect(await harness.lane("none")).toBeUndefined();
    await rewrite(world, ...lane("broken", "gone"));
    await expect(world.boot()).rejects.toThrow("[entry_missing]");
  });
});

function remove(namespace: RegisterNamespace, key: string | undefined): Write {
  return { kind: "register", op: "delete", namespace, key: key ?? "" };
}

function leafAt(lane: string, leafId: string | null): Write {
  return { kind: "register", op: "set", namespace: "lane.leaf", key: lane, value: leafId };
}

function stateWith(world: World, change: (state: RunState) => RunState): Write {
  const register = registersOf(world, "op.state")[0];
  const state = register?.value as RunState;
  return {
    kind: "register",
    op: "set",
    namespace: "op.state",
    key: register?.key ?? "",
    value: change(state),
  };
}
