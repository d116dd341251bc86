/**
 * Ends: close as a controlled crash, and faults (spec §4.7, §4.8).
 */
import { describe, expect, it } from "vitest";
import type { AgentHarness } from "./agent-harness.ts";
import { Closed, HarnessClosed, HarnessFault } from "./errors.ts";
import { calls, gate, inWords, text, tokens, World } from "./testing/scripted.ts";

describe("close", () => {
  it("leaves a request under way as effect_pending, and the next life goes on by the captured policy", async () => {
    const asked = gate();
    let signal: AbortSignal | undefined;
    const world = new World([
      (_context, given) => {
        signal = given;
        asked.open();
        return new Promise(() => undefined);
      },
      text("hello"),
    ]);
    const retry = { enabled: true, maxRetries: 1, baseDelayMs: 100 };
    const { harness } = await world.boot({ retry });
    const run = harness.prompt("go");
    const outcome = expect(run).rejects.toBeInstanceOf(HarnessClosed);
    await asked.opened;
    await harness.close();
    await outcome;
    expect(signal?.aborted).toBe(true);
    const state = world.disk.dump().registers.find(({ namespace }) => namespace === "op.state");
    expect(state?.value).toMatchObject({ phase: { generation: { status: "effect_pending", attempt: 1 } } });

    const next = await world.boot();
    expect(next.suspended).toMatchObject([
      { lane: "main", kind: "run", reason: "crash", prompt: [{ role: "user" }] },
    ]);
    expect(await next.harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(world.requests).toHaveLength(2);
  });

  it("never stores an answer that comes after the seal", async () => {
    const answer = gate();
    const asked = gate();
    const world = new World(async () => {
      asked.open();
      await answer.opened;
      return text("late");
    });
    const { harness } = await world.boot();
    const run = harness.prompt("go");
    const outcome = expect(run).rejects.toBeInstanceOf(HarnessClosed);
    await asked.opened;
    const commits = world.commitCount;
    await harness.close();
    answer.open();
    await outcome;
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.commitCount).toBe(commits);
  });

  it("refuses later calls, and rejects reads", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    await harness.close();
    await harness.close();
    expect(await harness.prompt("go")).toMatchObject({ ok: false, error: { _tag: "Closed" } });
    expect(await harness.resume()).toMatchObject({ ok: false, error: { _tag: "Closed" } });
    await expect(harness.getLeafId()).rejects.toBeInstanceOf(HarnessClosed);
    await expect(harness.getLastResult()).rejects.toBeInstanceOf(HarnessClosed);
  });

  it("refuses a call that was not accepted yet, and writes nothing for it", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const run = harness.prompt("go");
    await harness.close();
    const result = await run;
    expect(result.ok || result.error).toBeInstanceOf(Closed);
    expect(world.commits.map((writes) => writes.map(inWords))).toEqual([["set lane.config"]]);
  });
});

describe("close while the session is read", () => {
  const user = { role: "user", content: "hi", timestamp: 1 } as const;
  const calls: [string, (harness: AgentHarness, entryId: string) => Promise<unknown>][] = [
    ["setThinkingLevel", (harness) => harness.setThinkingLevel("low")],
    ["appendMessage", (harness) => harness.session.appendMessage(user)],
    ["setLabel", (harness, entryId) => harness.session.setLabel(entryId, "here")],
    ["getThinkingLevel", (harness) => harness.getThinkingLevel()],
    ["getLeafId", (harness) => harness.getLeafId()],
    ["getLastResult", (harness) => harness.getLastResult()],
    ["lanes", (harness) => harness.lanes()],
    ["watch", (harness) => harness.watch()],
    ["watchSession", (harness) => harness.watchSession()],
  ];
  const reading = async (call: (harness: AgentHarness, entryId: string) => Promise<unknown>) => {
    const { harness, session } = await new World(text("hello")).boot();
    const entryId = await session.appendMessage(user);
    const held = gate();
    const begun = gate();
    for (const method of ["getRegister", "getEntries"] as const) {
      const read = session[method].bind(session) as (...args: unknown[]) => Promise<never>;
      session[method] = async (...args: unknown[]) => {
        begun.open();
        await held.opened;
        return read(...args);
      };
    }
    const called = call(harness, entryId).then(
      (value) => value,
      (error: unknown) => error,
    );
    await begun.opened;
    await harness.close();
    held.open();
    return called;
  };

  it.each(calls)("rejects as closed: %s", async (_name, call) => {
    expect(await reading(call)).toBeInstanceOf(HarnessClosed);
  });

  it("refuses a usage whose entry is being looked for", async () => {
    const usage = tokens(1, 1);
    expect(await reading((harness, entryId) => harness.recordUsage(usage, { entryId }))).toMatchObject({
      ok: false,
      error: { _tag: "Closed" },
    });
  });
});

describe("a failed commit", () => {
  const worlds = async (commit: number) => {
    const world = new World(calls({ id: "c1", name: "read" }), text("done"));
    const booted = await world.boot({ tools: [world.tool("read")] });
    world.death = { commit, position: "before" };
    return { world, ...booted };
  };
  const commits = Array.from({ length: 10 }, (_, index) => index + 1);

  it.each(commits)("faults the harness: commit %i", async (commit) => {
    const { world, harness } = await worlds(commit);
    const fault = harness.prompt("go");
    await expect(fault).rejects.toBeInstanceOf(HarnessFault);
    await expect(fault).rejects.toThrow("the process died before the commit");
    expect(world.commitCount).toBe(commit);
    // Everything is refused from now on, and nothing is tried again.
    world.death = undefined;
    await expect(harness.prompt("again")).rejects.toBeInstanceOf(HarnessFault);
    await expect(harness.resume()).rejects.toBeInstanceOf(HarnessFault);
    await expect(harness.getLastResult()).rejects.toBeInstanceOf(HarnessFault);
    expect(world.commitCount).toBe(commit);
    await harness.close();
  });

  it("tells effects under way to stop, and stores nothing of them", async () => {
    let signal: AbortSignal | undefined;
    const started = gate();
    const world = new World(calls({ id: "c1", name: "slow" }, { id: "c2", name: "read" }), text("done"));
    const { harness } = await world.boot({
      tools: [
        world.tool("slow", {
          execute: (_id, _args, given) => {
            signal = given;
            started.open();
            return new Promise(() => undefined);
          },
        }),
        world.tool("read"),
      ],
    });
    world.death = { commit: 6, position: "before" };
    await expect(harness.prompt("go")).rejects.toBeInstanceOf(HarnessFault);
    await started.opened;
    expect(signal?.aborted).toBe(true);
    expect(world.executions).toEqual(["slow {}"]);
  });

  it("is healed by reopening", async () => {
    const { world, harness } = await worlds(5);
    await expect(harness.prompt("go")).rejects.toBeInstanceOf(HarnessFault);
    await harness.close();
    world.death = undefined;
    const next = await world.boot({ tools: [world.tool("read")] });
    expect(await next.harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
  });
});

describe("an application's callback that throws", () => {
  it.each([
    ["systemPrompt", { systemPrompt: () => Promise.reject(new Error("mine")) }],
    [
      "toProviderMessages",
      {
        toProviderMessages: () => {
          throw new Error("mine");
        },
      },
    ],
    [
      "toolContext",
      {
        toolContext: (): undefined => {
          throw new Error("mine");
        },
      },
    ],
  ])("faults the harness: %s", async (_name, options) => {
    const world = new World(calls({ id: "c1", name: "read" }), text("done"));
    const { harness } = await world.boot({ tools: [world.tool("read")], ...options });
    const run = harness.prompt("go");
    await expect(run).rejects.toBeInstanceOf(HarnessFault);
    await expect(run).rejects.toThrow("mine");
  });
});
