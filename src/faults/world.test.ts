import { describe, expect, it } from "vitest";
import { VIRTUAL_EPOCH_MS, VirtualClock } from "../foundation/index.ts";
import {
  boundaryName,
  Gate,
  MemoryLedger,
  type Scenario,
  ScriptExhausted,
  type ScriptedTool,
  Timeline,
  World,
  type WorldAccess,
} from "./index.ts";

const usage = (input: number) => ({ input, output: 1 });
const echo: ScriptedTool = {
  name: "echo",
  replay: "safe",
  does: { kind: "answers", text: "ran with {arguments}, twice {arguments}", usage: usage(2) },
};
const broken: ScriptedTool = {
  name: "broken",
  replay: "never",
  does: { kind: "throws", message: "no disk" },
};
const scenario: Scenario = {
  name: "world-test",
  title: "Two turns, the first refused once.",
  settings: {},
  tools: [echo, broken],
  turns: [
    [
      { stopReason: "error", errorMessage: "overloaded", usage: usage(1) },
      { text: "second ask", stopReason: "stop", usage: usage(20) },
    ],
    [{ text: "only answer", stopReason: "stop", usage: usage(30) }],
    [],
  ],
  stimuli: [],
};

function life(options: { open: boolean } = { open: true }): WorldAccess & { events: () => string[] } {
  const timeline = new Timeline();
  return {
    gate: new Gate(options),
    timeline,
    events: () =>
      timeline.events.map((event) =>
        "boundary" in event ? `${event.kind} ${boundaryName(event.boundary)}` : event.kind,
      ),
  };
}

describe("World", () => {
  it("has the row before the answer: a life that dies inside the effect leaves it, the answer reaches nobody", async () => {
    const access = life();
    let diedInside = false;
    const timeline = new Timeline();
    timeline.listen(() => {
      diedInside = true;
      access.gate.drop();
    });
    const world = new World(scenario, new VirtualClock());
    let answered = false;
    void world.request({ gate: access.gate, timeline }, 1, 1).then(() => {
      answered = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([diedInside, answered]).toEqual([true, false]);
    expect(world.rows).toEqual([{ kind: "request", turn: 1, ask: 1, usage: usage(30) }]);
  });

  it("has no row while the effect is parked", async () => {
    const access = life({ open: false });
    const world = new World(scenario, new VirtualClock());
    const answer = world.request(access, 1, 1);
    await access.gate.quiet(answer);
    expect([world.rows, access.events()]).toEqual([[], []]);
    access.gate.open();
    await answer;
    expect([world.rows.length, access.events()]).toEqual([1, ["effect provider.request#1"]]);
  });

  it("answers the n-th ask of a turn with its n-th reply, and every later one with the last", async () => {
    const access = life();
    const world = new World(scenario, new VirtualClock());
    const texts = [];
    for (const ask of [1, 2, 3]) texts.push((await world.request(access, 0, ask)).text ?? "refused");
    expect(texts).toEqual(["refused", "second ask", "second ask"]);
    expect(world.rows).toEqual([
      { kind: "request", turn: 0, ask: 1, usage: usage(1) },
      { kind: "request", turn: 0, ask: 2, usage: usage(20) },
      { kind: "request", turn: 0, ask: 3, usage: usage(20) },
    ]);
  });

  it("answers by turn and ask alone: a lost answer is given again, and both requests stand on the bill", async () => {
    const ledger = new MemoryLedger();
    const clock = new VirtualClock();
    const before = new World(scenario, clock, ledger);
    await before.request(life(), 1, 1);
    const lost = await before.request(life(), 0, 1);
    const after = new World(scenario, clock, new MemoryLedger(ledger.rows));
    expect(await after.request(life(), 0, 1)).toEqual(lost);
    expect((await after.request(life(), 0, 2)).text).toBe("second ask");
    expect(after.rows.map((row) => (row.kind === "request" ? [row.turn, row.ask] : []))).toEqual([
      [1, 1],
      [0, 1],
      [0, 1],
      [0, 2],
    ]);
  });

  it("answers requests for summaries by work, request and attempt, and keeps what they cost", async () => {
    const access = life();
    const said = (text: string) => ({ text, stopReason: "stop" as const, usage: usage(3) });
    const world = new World(
      { ...scenario, summaries: [null, [[said("first"), said("later")], [said("prefix")]]] },
      new VirtualClock(),
    );
    const ask = async (task: number, index: number, attempt: number) =>
      (await world.requestSummary(access, { task, index, attempt })).text;
    expect(await ask(1, 0, 1)).toBe("first");
    expect(await ask(1, 0, 2)).toBe("later");
    expect(await ask(1, 0, 3)).toBe("later");
    expect(await ask(1, 1, 3)).toBe("prefix");
    await expect(ask(0, 0, 1)).rejects.toThrow(ScriptExhausted);
    await expect(ask(1, 2, 1)).rejects.toThrow(ScriptExhausted);
    expect(world.rows.at(-1)).toEqual({ kind: "summary", task: 1, index: 1, attempt: 3, usage: usage(3) });
    expect(access.events()[0]).toBe("effect provider.summary#1");
  });

  it("asks the decision hook about work, and keeps what a result cost", async () => {
    const access = life();
    const supply = { kind: "supply", summary: "s", usage: usage(4) } as const;
    const world = new World({ ...scenario, decisions: [null, supply] }, new VirtualClock());
    expect(await world.decide(access, 0)).toBeNull();
    expect(await world.decide(access, 1)).toEqual(supply);
    expect(await world.decide(access, 2)).toBeNull();
    expect(world.rows).toEqual([
      { kind: "decision", task: 0 },
      { kind: "decision", task: 1, usage: usage(4) },
      { kind: "decision", task: 2 },
    ]);
    expect(access.events()[0]).toBe("effect hook.decide#1");
  });

  it("runs a tool with its arguments in canonical form, in the row and in the answer", async () => {
    const access = life();
    const world = new World(scenario, new VirtualClock());
    const answer = await world.execute(access, echo, "call_1", { b: 1, a: "$& and $1" });
    const argumentsText = '{"a":"$& and $1","b":1}';
    expect(answer).toEqual({
      text: `ran with ${argumentsText}, twice ${argumentsText}`,
      terminate: false,
      usage: usage(2),
    });
    expect(world.rows).toEqual([{ kind: "tool", tool: "echo", callId: "call_1", argumentsText }]);
    expect(access.events()).toEqual(["effect tool.execute#1"]);
  });

  it("keeps the effect of a tool that throws", async () => {
    const world = new World(scenario, new VirtualClock());
    await expect(world.execute(life(), broken, "call_2", {})).rejects.toThrow("no disk");
    expect(world.rows).toEqual([{ kind: "tool", tool: "broken", callId: "call_2", argumentsText: "{}" }]);
  });

  it("answers as many bytes as the script says, and says when a tool ends the run", async () => {
    const world = new World(scenario, new VirtualClock());
    const large: ScriptedTool = {
      name: "large",
      replay: "safe",
      does: { kind: "answersBytes", byteCount: 70_000 },
    };
    const last: ScriptedTool = {
      name: "last",
      replay: "safe",
      does: { kind: "answers", text: "bye", terminate: true },
    };
    expect(new TextEncoder().encode((await world.execute(life(), large, "c", {})).text).length).toBe(70_000);
    expect(await world.execute(life(), last, "d", {})).toEqual({
      text: "bye",
      terminate: true,
      usage: undefined,
    });
  });

  it.each([
    ["a turn that the scenario does not have", 3],
    ["a turn without replies", 2],
  ])("refuses %s, by name, and bills nothing", async (_, turn) => {
    const world = new World(scenario, new VirtualClock());
    const error = await world.request(life(), turn, 1).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ScriptExhausted);
    expect((error as ScriptExhausted).code).toBe("SCRIPT_EXHAUSTED");
    expect((error as Error).message).toContain(`scenario world-test scripts no answer for turn ${turn}`);
    expect(world.rows).toEqual([]);
  });

  it("forks into a copy that shares neither rows nor clock", async () => {
    const world = new World(scenario, new VirtualClock());
    await world.request(life(), 0, 1);
    const fork = world.fork(new VirtualClock(5));
    await fork.request(life(), 0, 1);
    await world.execute(life(), echo, "call_1", {});
    await fork.sleep(life(), 10);
    expect([world.rows.map((row) => row.kind), fork.rows.map((row) => row.kind)]).toEqual([
      ["request", "tool"],
      ["request", "request"],
    ]);
    expect([world.clock.now(), fork.clock.now()]).toEqual([VIRTUAL_EPOCH_MS, 15]);
  });

  it("sleeps in virtual time, as an effect of its own that leaves no row", async () => {
    const access = life({ open: false });
    const world = new World(scenario, new VirtualClock());
    const sleep = world.sleep(access, 3_600_000);
    await access.gate.quiet(sleep);
    expect(world.clock.now()).toBe(VIRTUAL_EPOCH_MS);
    access.gate.open();
    await sleep;
    expect(world.clock.now()).toBe(VIRTUAL_EPOCH_MS + 3_600_000);
    expect([world.rows, access.timeline.events]).toEqual([
      [],
      [
        {
          kind: "timer",
          boundary: { kind: "effect", label: "timer.sleep", occurrence: 1 },
          delayMs: 3_600_000,
        },
      ],
    ]);
  });
});
