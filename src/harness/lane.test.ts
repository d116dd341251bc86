/**
 * Calls of a lane: what is refused before anything is written, and what becomes of an accepted call.
 */
import { describe, expect, it } from "vitest";
import type { AgentMessage, Write } from "../model/index.ts";
import { calls, failure, gate, inWords, text, World } from "./testing/scripted.ts";

describe("a prompt", () => {
  it.each([
    ["a message of an unknown role", { role: "note", timestamp: 1 }, "/role"],
    ["a message that JSON cannot carry", { role: "user", content: "x", timestamp: Number.NaN }, "NaN"],
    ["a pending assistant", { role: "assistant", stopReason: "pending" }, "stopReason"],
    ["a lone surrogate", { role: "user", content: "\ud800", timestamp: 1 }, "surrogate"],
  ])("is refused for %s", async (_name, message, reason) => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const result = await harness.prompt(message as unknown as AgentMessage);
    expect(result).toMatchObject({ ok: false, error: { _tag: "InvalidMessage", lane: "main" } });
    expect(JSON.stringify(!result.ok && result.error)).toContain(reason);
    expect(world.commitCount).toBe(1);
  });

  it.each([
    ["an empty text", ""],
    ["no message", []],
  ])("is refused for %s", async (_name, input) => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    const result = await (typeof input === "string" ? harness.prompt(input) : harness.prompt(input));
    expect(result).toMatchObject({ ok: false, error: { _tag: "InvalidMessage" } });
    expect(world.commitCount).toBe(1);
  });

  it("becomes one user message, with its images after the text", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    await harness.prompt("look", [{ type: "image", data: "AAAA", mimeType: "image/png" }]);
    expect(world.disk.dump().entries[0]).toMatchObject({
      message: { role: "user", content: [{ type: "text", text: "look" }, { type: "image" }] },
    });
  });

  it("is refused while the lane is busy, by the operation that has it", async () => {
    const answer = gate();
    const world = new World(() => answer.opened.then(() => text("hello")));
    const { harness } = await world.boot();
    const first = harness.prompt("first");
    const second = await harness.prompt("second");
    const third = await harness.resume();
    answer.open();
    const done = await first;
    const operationId = done.ok ? done.value.runId : "";
    const busy = { ok: false, error: { _tag: "LaneBusy", operationId, operationKind: "run" } };
    expect(second).toMatchObject(busy);
    expect(third).toMatchObject(busy);
    expect(done.ok).toBe(true);
  });

  it("is refused while an operation of an earlier life is open", async () => {
    const world = new World(text("hello"));
    const { harness } = await world.boot();
    world.death = { commit: 3, position: "before" };
    await harness.prompt("go").catch(() => undefined);
    world.death = undefined;
    const next = await world.boot();
    expect(await next.harness.prompt("other")).toMatchObject({ ok: false, error: { _tag: "LaneBusy" } });
    expect(await next.harness.resume()).toMatchObject({
      ok: true,
      value: { operation: "run", kind: "completed" },
    });
  });

  it("is refused while its model or an active tool is not registered", async () => {
    const world = new World(text("hello"));
    world.hasModel = false;
    const { harness } = await world.boot({ activeToolNames: ["gone"] });
    expect(await harness.prompt("go")).toMatchObject({
      ok: false,
      error: { _tag: "MissingIdentities", tools: ["gone"], models: ["acme/large"] },
    });
    expect(world.commitCount).toBe(1);
  });

  it("takes what was queued for the next run along, before its own messages", async () => {
    const world = new World(text("hello"));
    const { harness, storage } = await world.boot();
    const queued: AgentMessage = { role: "user", content: "queued", timestamp: 1 };
    const writes: Write[] = [
      {
        kind: "register",
        op: "set",
        namespace: "pending.entry",
        key: "q",
        value: { type: "message", payload: queued },
      },
      {
        kind: "register",
        op: "set",
        namespace: "lane.state",
        key: "main",
        value: { currentOperationId: null, pendingNextRun: ["q"] },
      },
    ];
    await storage.commit({ writes });
    await harness.prompt([]);
    expect(world.commits[1]?.map(inWords)).toEqual([
      "entry user",
      "delete pending.entry",
      "set lane.leaf",
      "set op.meta",
      "set op.state",
      "set lane.state",
    ]);
    expect(world.requests[0]?.messages).toEqual([queued]);
  });
});

describe("resume", () => {
  it("has nothing to do on an idle lane; the last result tells how it ended", async () => {
    const world = new World(failure("invalid api key"));
    const { harness } = await world.boot();
    expect(await harness.getLastResult()).toBeUndefined();
    const run = await harness.prompt("go");
    expect(run).toMatchObject({
      ok: true,
      value: { kind: "failed", error: { code: "provider_error", message: "invalid api key" } },
    });
    const next = await world.boot();
    expect(await next.harness.resume()).toMatchObject({ ok: false, error: { _tag: "NothingToResume" } });
    expect(await next.harness.getLastResult()).toMatchObject({
      operationId: run.ok ? run.value.runId : "",
      outcome: "failed",
      error: { code: "provider_error" },
      finalAssistantEntryId: await next.harness.getLeafId(),
    });
  });

  it("is refused while an identity is missing, and goes on when it is back", async () => {
    const world = new World(calls({ id: "c1", name: "read" }), text("done"));
    const { harness } = await world.boot({ tools: [world.tool("read")] });
    world.death = { commit: 5, position: "before" };
    await harness.prompt("go").catch(() => undefined);
    world.death = undefined;
    const without = await world.boot();
    expect(without.suspended).toMatchObject([{ missing: { tools: ["read"], models: [] } }]);
    const commits = world.commitCount;
    expect(await without.harness.resume()).toMatchObject({
      ok: false,
      error: { _tag: "MissingIdentities", tools: ["read"] },
    });
    expect(world.commitCount).toBe(commits);
    const withTool = await world.boot({ tools: [world.tool("read")] });
    expect(await withTool.harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(world.executions).toEqual(["read {}"]);
  });
});

describe("an accepted run", () => {
  it("suspends without losing an attempt when its model goes, and resumes when it is back", async () => {
    const world = new World(calls({ id: "c1", name: "unplug" }), text("done"));
    const { harness } = await world.boot({
      tools: [
        world.tool("unplug", {
          execute: async () => {
            world.hasModel = false;
            return { details: {} };
          },
        }),
      ],
    });
    expect(await harness.prompt("go")).toMatchObject({
      ok: true,
      value: { kind: "suspended", reason: "missing_identities", missing: { models: ["acme/large"] } },
    });
    expect(await harness.resume()).toMatchObject({ ok: false, error: { _tag: "MissingIdentities" } });
    world.hasModel = true;
    expect(await harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
  });

  it("fails on an overflow when compaction is switched off", async () => {
    const world = new World({ ...text("half"), stopReason: "length" });
    const compaction = { enabled: false, reserveTokens: 0, keepRecentTokens: 0 };
    const { harness } = await world.boot({ compaction });
    expect(await harness.prompt("go")).toMatchObject({
      ok: true,
      value: { kind: "failed", error: { code: "context_overflow" }, finalMessage: { stopReason: "error" } },
    });
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    "ends with the result of whoever ended it from outside: at action %i",
    async (at) => {
      const world = new World(calls({ id: "c1", name: "read" }), text("done"));
      const { harness, storage } = await world.boot({ drive: "manual", tools: [world.tool("read")] });
      const run = harness.prompt("go");
      for (let count = 0; count < at; count++) await harness.executeAction();
      await harness.peekAction();
      const leafId = await harness.getLeafId();
      const operationId =
        world.disk.dump().registers.find(({ namespace }) => namespace === "op.meta")?.key ?? "";
      const stored = world.disk.dump().registers.filter(({ namespace }) => namespace === "op.tool_args");
      await storage.commit({
        writes: [
          { kind: "register", op: "delete", namespace: "op.meta", key: operationId },
          { kind: "register", op: "delete", namespace: "op.state", key: operationId },
          ...stored.map(
            ({ key }): Write => ({ kind: "register", op: "delete", namespace: "op.tool_args", key }),
          ),
          {
            kind: "register",
            op: "set",
            namespace: "lane.lastResult",
            key: "main",
            value: { operationId, kind: "run", leafId, outcome: "aborted" },
          },
          {
            kind: "register",
            op: "set",
            namespace: "lane.state",
            key: "main",
            value: { currentOperationId: null, pendingNextRun: [] },
          },
        ],
      });
      const commits = world.commitCount;
      await harness.runToCompletion();
      expect(await run).toMatchObject({ ok: true, value: { kind: "aborted", leafId } });
      expect(world.commitCount).toBe(commits);
      expect(await harness.resume()).toMatchObject({ ok: false, error: { _tag: "NothingToResume" } });
      // The lane is free again.
      const next = harness.prompt("next");
      await harness.runToCompletion();
      expect((await next).ok).toBe(true);
    },
  );
});
