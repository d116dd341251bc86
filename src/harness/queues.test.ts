/** Queues of a lane: what is admitted, what becomes of it, and each race of a caller with the drive, in both orders. */
import { describe, expect, it } from "vitest";
import type { AgentHarness } from "./agent-harness.ts";
import { calls, gate, inWords, text, World } from "./testing/scripted.ts";

const users = (world: World) =>
  world.disk.dump().entries.flatMap((entry) => {
    if (entry.type !== "message" || entry.message.role !== "user") return [];
    const [block] = entry.message.content;
    return [typeof block === "object" && block.type === "text" ? block.text : entry.message.content];
  });

const queued = (world: World) =>
  world.disk.dump().registers.filter(({ namespace }) => namespace === "pending.entry");

/** Every queued id has its register or its entry, and never both: asked of every commit of a world. */
function expectExclusive(world: World): void {
  const pending = new Set<string>();
  const entries = new Set<string>();
  for (const writes of world.commits) {
    for (const write of writes) {
      if (write.kind === "entry") entries.add(write.entry.id);
      if (write.kind !== "register") continue;
      if (write.namespace === "pending.entry") {
        if (write.op === "set") pending.add(write.key);
        else pending.delete(write.key);
      }
      if (write.op !== "set" || write.namespace !== "op.state" || write.value.kind !== "run") continue;
      const { inbox } = write.value;
      for (const id of [...inbox.steer, ...inbox.followUp, ...inbox.writes]) expect(pending).toContain(id);
    }
    for (const id of pending) expect(entries).not.toContain(id);
  }
}

async function stepTo(harness: AgentHarness, kind: string, about = ""): Promise<void> {
  for (let steps = 0; steps < 50; steps++) {
    const next = await harness.peekAction();
    if (next === undefined) throw new Error(`there is no ${kind} ${about}`);
    if (next.kind === kind && next.description.includes(about)) return;
    await harness.executeAction();
  }
}

describe("steer and followUp", () => {
  it.each(["steer", "followUp"] as const)("%s needs a run that is open", async (queue) => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const refused = { ok: false, error: { _tag: "NoActiveRun", lane: "main" } };
    expect(await harness[queue]("more")).toMatchObject(refused);
    await harness.prompt("go");
    expect(await harness[queue]("more")).toMatchObject(refused);
    expect(queued(world)).toEqual([]);
  });

  it.each(["steer", "followUp", "nextRun"] as const)("%s refuses what is no message", async (queue) => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const refused = { ok: false, error: { _tag: "InvalidMessage" } };
    expect(await harness[queue]("")).toMatchObject(refused);
    expect(await harness[queue]({ role: "note" } as never)).toMatchObject(refused);
  });

  it("are taken by a run that was found suspended, before anybody resumes it", async () => {
    const world = new World(text("answer"), text("and that"));
    const first = await world.boot({ drive: "manual" });
    void first.harness.prompt("go").catch(() => undefined);
    await first.harness.executeAction();
    await first.harness.close();
    const { harness } = await world.boot();
    expect(await harness.followUp("more")).toMatchObject({ ok: true });
    expect(await harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(users(world)).toEqual(["go", "more"]);
    expectExclusive(world);
  });

  it("place an item under the id that was answered", async () => {
    const answer = gate();
    const world = new World(() => answer.opened.then(() => text("one")), text("two"));
    const { harness } = await world.boot();
    const run = harness.prompt("go");
    const item = await harness.followUp("more");
    answer.open();
    await run;
    const id = item.ok ? item.value.entryId : "";
    expect(world.disk.dump().entries.map((entry) => entry.id)).toContain(id);
    expect(await harness.cancelQueued(id)).toEqual({ ok: true, value: { kind: "already_consumed" } });
    expectExclusive(world);
  });
});

describe("the queue modes", () => {
  it.each([
    ["one-at-a-time", [1, 2, 3]],
    ["all", [1, 3]],
  ] as const)("%s: steering reaches the requests like this", async (mode, counts) => {
    const started = gate();
    const tool = gate();
    const world = new World(calls({ id: "c", name: "a" }), text("x"), text("y"));
    const a = world.tool("a", {
      execute: async () => {
        started.open();
        await tool.opened;
        return { content: [{ type: "text", text: "ok" }], details: {} };
      },
    });
    const { harness } = await world.boot({ tools: [a], steeringMode: mode });
    const run = harness.prompt("go");
    await started.opened;
    await harness.steer("first");
    await harness.steer("second");
    tool.open();
    await run;
    const seen = world.requests.map(({ messages }) => messages.filter(({ role }) => role === "user").length);
    expect(seen).toEqual(counts);
    expectExclusive(world);
  });

  it("are those that were captured at the acceptance of the run", async () => {
    const world = new World(text("x"));
    const { harness } = await world.boot({ steeringMode: "all", followUpMode: "all" });
    await harness.prompt("go");
    const accepted = JSON.stringify(world.commits.find((writes) => writes.some((w) => w.kind === "entry")));
    expect(accepted).toContain('"steeringMode":"all","followUpMode":"all"');
  });
});

describe("nextRun", () => {
  it("starts nothing, and is captured in order by the next prompt, before its own message", async () => {
    const world = new World(text("x"));
    const { harness } = await world.boot();
    await harness.nextRun("one");
    await harness.nextRun("two");
    expect(world.requests).toEqual([]);
    await harness.prompt("go");
    expect(users(world)).toEqual(["one", "two", "go"]);
    expect(queued(world)).toEqual([]);
    expectExclusive(world);
  });

  it("lets a prompt without a message of its own run", async () => {
    const world = new World(text("x"));
    const { harness } = await world.boot();
    await harness.nextRun("one");
    expect(await harness.prompt([])).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(users(world)).toEqual(["one"]);
  });

  it.each([
    ["before", ["queued", "go"], 0],
    ["after", ["go"], 1],
  ] as const)("× acceptance, said %s it", async (order, said, left) => {
    const world = new World(text("x"));
    const { harness } = await world.boot();
    const nextRun = () => harness.nextRun("queued");
    const calls = order === "before" ? [nextRun(), harness.prompt("go")] : [harness.prompt("go"), nextRun()];
    await Promise.all(calls);
    expect(users(world)).toEqual(said);
    expect(queued(world)).toHaveLength(left);
  });
});

describe("cancelQueued", () => {
  const withItem = async () => {
    const world = new World(text("one"), text("two"));
    const { harness } = await world.boot({ drive: "manual" });
    const run = harness.prompt("go");
    await stepTo(harness, "provider_request");
    const item = await harness.followUp("more");
    await stepTo(harness, "commit_transition", "inbox_consumed");
    return { world, harness, run, id: item.ok ? item.value.entryId : "" };
  };

  it("before the consumption takes the item back, and the consumption finds nothing", async () => {
    const { world, harness, run, id } = await withItem();
    expect(await harness.cancelQueued(id)).toEqual({ ok: true, value: { kind: "cancelled" } });
    expect(world.commits.at(-1)?.map(inWords)).toEqual(["set op.state", "delete pending.entry"]);
    await harness.runToCompletion();
    expect(await run).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(users(world)).toEqual(["go"]);
    expect(await harness.cancelQueued(id)).toEqual({ ok: true, value: { kind: "not_found" } });
    expectExclusive(world);
  });

  it("after the consumption changes nothing", async () => {
    const { world, harness, run, id } = await withItem();
    await harness.executeAction();
    expect(await harness.cancelQueued(id)).toEqual({ ok: true, value: { kind: "already_consumed" } });
    await harness.runToCompletion();
    await run;
    expect(users(world)).toEqual(["go", "more"]);
  });

  it("knows nothing of an id that was never queued", async () => {
    const world = new World(text("x"));
    const { harness } = await world.boot();
    expect(await harness.cancelQueued("nobody")).toEqual({ ok: true, value: { kind: "not_found" } });
    expect(world.commitCount).toBe(1);
  });
});

describe("a caller × the drive", () => {
  it("steer × consumption: said before, both are read together; said after, the next checkpoint has it", async () => {
    for (const order of ["before", "after"]) {
      const world = new World(calls({ id: "c", name: "a" }), text("x"), text("y"));
      const options = { drive: "manual", steeringMode: "all", tools: [world.tool("a")] } as const;
      const { harness } = await world.boot(options);
      const run = harness.prompt("go");
      await stepTo(harness, "tool_execution");
      await harness.steer("first");
      await stepTo(harness, "commit_transition", "inbox_consumed");
      if (order === "after") await harness.executeAction();
      await harness.steer("second");
      await harness.runToCompletion();
      await run;
      expect(users(world)).toEqual(["go", "first", "second"]);
      expect(world.requests).toHaveLength(order === "before" ? 2 : 3);
      expectExclusive(world);
    }
  });

  it("followUp × the end: said before, the run goes on; said after, it is refused", async () => {
    for (const order of ["before", "after"]) {
      const world = new World(text("x"), text("y"));
      const { harness } = await world.boot({ drive: "manual" });
      const run = harness.prompt("go");
      await stepTo(harness, "commit_terminal");
      if (order === "after") await harness.executeAction();
      expect((await harness.followUp("more")).ok).toBe(order === "before");
      await harness.runToCompletion();
      expect(await run).toMatchObject({ ok: true, value: { kind: "completed" } });
      expect(users(world)).toEqual(order === "before" ? ["go", "more"] : ["go"]);
    }
  });

  it("a deferred write × abort: it survives both orders", async () => {
    for (const order of ["before", "after"]) {
      const world = new World(text("x"));
      const { harness, session } = await world.boot({ drive: "manual" });
      const run = harness.prompt("go");
      await stepTo(harness, "commit_settlement");
      if (order === "after") await harness.abort();
      await session.appendMessage({ role: "user", content: "note", timestamp: 1 });
      if (order === "before") await harness.abort();
      await harness.runToCompletion();
      expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
      expect(users(world)).toEqual(["go", "note"]);
      expectExclusive(world);
    }
  });
});
