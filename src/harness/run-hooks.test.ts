/** The hooks around a run: before it is accepted, resumed, ended. */
import { describe, expect, it } from "vitest";
import { recognise, StoreModel } from "../checkers/index.ts";
import { hooked, id, user } from "./testing/hooked.ts";
import { failure, gate, text, World } from "./testing/scripted.ts";

describe("before_run", () => {
  it("adds messages, replaces the system prompt for the whole run, and stores what resume gives back", async () => {
    const world = new World(async () => {
      await stuck.opened;
      return text("hello");
    }, text("again"));
    const stuck = gate();
    const { harness, hooks } = await hooked(world, { systemPrompt: "be kind" });
    const seen: unknown[] = [];
    hooks.on(
      "before_run",
      ({ prompt, systemPrompt, runId }) => {
        seen.push([prompt.length, systemPrompt, runId]);
        return { messages: [user("first")], systemPrompt: "be brief", resumeData: { kept: 1 } };
      },
      id,
    );
    hooks.on(
      "before_run",
      ({ prompt, systemPrompt }) => {
        seen.push([prompt.length, systemPrompt]);
        return { messages: [user("second")], resumeData: null };
      },
      { id: "other" },
    );
    harness.prompt("go").catch(() => undefined);
    while (world.requests.length === 0) await Promise.resolve();
    const { registers } = world.disk.dump();
    const meta = registers.find(({ namespace }) => namespace === "op.meta");
    expect(meta?.value).toMatchObject({
      intent: { systemPromptOverride: "be brief", resumeData: { extension: { kept: 1 }, other: null } },
    });
    expect(seen).toEqual([
      [1, "be kind", meta?.key],
      [2, "be brief"],
    ]);
    expect(world.requests[0]).toMatchObject({
      systemPrompt: "be brief",
      messages: [{}, { content: "first" }, { content: "second" }],
    });
    await harness.close();
    const next = await hooked(world, {
      retry: { enabled: true, maxRetries: 1, baseDelayMs: 1 },
      systemPrompt: "be kind",
    });
    const resumed: unknown[] = [];
    next.hooks.on(
      "before_resume",
      ({ resumeData, ...rest }) => {
        resumed.push([resumeData, rest]);
      },
      id,
    );
    next.hooks.on(
      "before_resume",
      (event) => {
        resumed.push("resumeData" in event);
      },
      { id: "a third" },
    );
    stuck.open();
    await next.harness.resume();
    expect(resumed).toMatchObject([
      [{ kept: 1 }, { kind: "run", prompt: [{ role: "user" }], systemPromptOverride: "be brief" }],
      false,
    ]);
  });

  it("that is wrong is passed over, and told of", async () => {
    const world = new World(text("hello"));
    const { harness, hooks, errors } = await hooked(world);
    hooks.on(
      "before_run",
      () => {
        throw new Error("no");
      },
      { id: "1" },
    );
    hooks.on("before_run", () => ({ messages: [{ role: "martian" } as never] }), { id: "2" });
    hooks.on("before_run", () => ({ resumeData: (() => 1) as never }), { id: "3" });
    hooks.on("before_run", () => ({ messages: [user("kept")] }), { id: "4" });
    expect(await harness.prompt("go")).toMatchObject({ ok: true });
    expect(world.requests[0]?.messages).toMatchObject([{}, { content: "kept" }]);
    expect(errors).toHaveLength(3);
    expect(errors[0]).toMatchObject({ kind: "hook", hook: "before_run", error: "no", lane: "main" });
  });

  it("is not asked of a lane that is taken, and dropped where one takes it meanwhile", async () => {
    const opened = gate();
    const world = new World(text("hello"));
    const { harness, hooks } = await hooked(world);
    let count = 0;
    hooks.on(
      "before_run",
      async () => {
        count++;
        await opened.opened;
        return undefined;
      },
      id,
    );
    const both = [harness.prompt("one"), harness.prompt("two")];
    while (count < 2) await Promise.resolve();
    opened.open();
    const results = await Promise.all(both);
    expect(results.map((result) => result.ok || result.error._tag)).toEqual([true, "LaneBusy"]);
    expect(world.disk.dump().entries).toHaveLength(2);
  });

  it("needs an id that is its own", async () => {
    const { hooks } = await hooked(new World(text("hello")));
    expect(() => hooks.on("before_run", () => undefined)).toThrow(TypeError);
    hooks.on("before_run", () => undefined, id);
    expect(() => hooks.on("before_run", () => undefined, id)).toThrow("has the id");
    const take = hooks.on("before_resume", () => undefined, id);
    take();
    hooks.on("before_resume", () => undefined, id);
    hooks.on("before_tool", () => undefined);
  });
});

describe("before_run_end", () => {
  it("lets the run go on with what it says, at each normal end", async () => {
    const world = new World(text("one"), text("two"));
    const { harness, hooks } = await hooked(world);
    const seen: number[] = [];
    hooks.on("before_run_end", ({ messages }) => {
      seen.push(messages.length);
      return seen.length === 1 ? { followUp: "and?" } : undefined;
    });
    expect(await harness.prompt("go")).toMatchObject({
      ok: true,
      value: { kind: "completed", finalMessage: { content: [{ text: "two" }] } },
    });
    expect(seen).toEqual([2, 4]);
    const model = StoreModel.fresh();
    const rows = world.log.flatMap((line) => {
      if (line.kind !== "commit") return [];
      const found = recognise(line.writes, model);
      model.apply(line.writes, line.result);
      return [found.ok ? found.name : found.message];
    });
    expect(rows).toContain("checkpoint.run-end-follow-up");
    expect(world.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ text: "and?" }] });
  });

  it("commits what it says with the state that goes on, and never in a register", async () => {
    const { harness, hooks, storage } = await hooked(new World(text("one"), text("two")), {
      drive: "manual",
    });
    let isAsked = false;
    hooks.on("before_run_end", () => {
      if (isAsked) return undefined;
      isAsked = true;
      return { followUp: "and?" };
    });
    const run = harness.prompt("go");
    while ((await harness.peekAction()) !== undefined) {
      expect(await storage.listRegisters("pending.entry")).toEqual([]);
      await harness.executeAction();
    }
    expect(await run).toMatchObject({ ok: true, value: { kind: "completed" } });
    const said = (await storage.scanEntries({ type: "message" })).map((entry) =>
      entry.type === "message" ? entry.message.role : "",
    );
    expect(said).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("is out of date where something was queued while it was asked", async () => {
    const world = new World(text("one"), text("two"), text("three"));
    const { harness, hooks } = await hooked(world);
    const answers = ["late", "and?"];
    hooks.on("before_run_end", async () => {
      const followUp = answers.shift();
      if (followUp === "late") await harness.followUp("first this");
      return followUp === undefined ? undefined : { followUp };
    });
    await harness.prompt("go");
    const asked = world.requests.map(({ messages }) => messages.at(-1));
    expect(asked).toMatchObject([{}, { content: [{ text: "first this" }] }, { content: [{ text: "and?" }] }]);
  });

  it("is not asked after a failure, and dropped after an abort", async () => {
    const failed = await hooked(new World(failure("no")));
    failed.hooks.on("before_run_end", () => ({ followUp: "more" }));
    expect(await failed.harness.prompt("go")).toMatchObject({ ok: true, value: { kind: "failed" } });
    const opened = gate();
    const world = new World(text("one"));
    const { harness, hooks } = await hooked(world);
    let isAsked = false;
    hooks.on("before_run_end", async () => {
      isAsked = true;
      await opened.opened;
      return { followUp: "more" };
    });
    const run = harness.prompt("go");
    while (!isAsked) await Promise.resolve();
    await harness.abort();
    opened.open();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(world.requests).toHaveLength(1);
  });
});
