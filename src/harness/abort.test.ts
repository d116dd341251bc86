/**
 * Cancellation: what the first abort commits, what it stops, and what becomes of each output that was pending. What it may
 * come before or after is in `abort-races.test.ts`.
 */
import { describe, expect, it } from "vitest";
import type { RunState } from "../model/index.ts";
import { answering, said, stateIn, waiting } from "./testing/answers.ts";
import { calls, failure, gate, inWords, phaseAfter, text, World } from "./testing/scripted.ts";
import { stepTo } from "./testing/stepping.ts";

describe("the first abort", () => {
  it("is one commit: control and the drained queues, and nothing else", async () => {
    const { asked, answer, reply } = answering();
    const world = new World(reply);
    const { harness, session } = await world.boot();
    const run = harness.prompt("go");
    await asked.opened;
    const steer = await harness.steer("left");
    const followUp = await harness.followUp("and then");
    const write = await session.appendMessage({ role: "user", content: "note", timestamp: 1 });
    const before = stateIn(world.commits.at(-1) ?? []) as RunState;
    const aborted = await harness.abort();
    const writes = world.commits.at(-1) ?? [];
    expect(writes.map(inWords)).toEqual(["set op.state"]);
    expect(stateIn(writes)).toEqual({
      ...before,
      control: {
        status: "cancel_requested",
        requestedAt: world.clock.now(),
        drainedSteer: [steer.ok && steer.value.entryId],
        drainedFollowUp: [followUp.ok && followUp.value.entryId],
      },
      inbox: { steer: [], followUp: [], writes: [write] },
    });
    expect(aborted).toMatchObject({
      ok: true,
      value: {
        steer: [{ content: [{ text: "left" }] }],
        followUp: [{ content: [{ text: "and then" }] }],
      },
    });
    answer.open();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(said(world)).toEqual(["go", "assistant aborted", "note"]);
    expect(world.disk.dump().registers.filter(({ namespace }) => namespace === "pending.entry")).toEqual([]);
  });

  it("is answered the same by every further one, which writes nothing", async () => {
    const { asked, answer, reply } = answering();
    const world = new World(reply);
    const { harness } = await world.boot();
    const run = harness.prompt("go");
    await asked.opened;
    await harness.steer("left");
    const first = await harness.abort();
    const { commitCount } = world;
    expect(await harness.abort()).toEqual(first);
    expect(world.commitCount).toBe(commitCount);
    answer.open();
    await run;
    expect(await harness.abort()).toMatchObject({ ok: false, error: { _tag: "NoActiveOperation" } });
  });

  it("raises the signal after it is durable, and never without it", async () => {
    let atSignal: unknown;
    const asked = gate();
    const world = new World(async (_context, signal) => {
      asked.open();
      await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      atSignal = stateIn(world.commits.at(-1) ?? [])?.control.status;
      return { stopReason: "aborted" };
    });
    const { harness } = await world.boot();
    const run = harness.prompt("go");
    await asked.opened;
    await harness.abort();
    expect(await run).toMatchObject({
      ok: true,
      value: { kind: "aborted", finalMessage: { stopReason: "aborted" } },
    });
    expect(atSignal).toBe("cancel_requested");
  });

  it("ends an operation that nobody drives", async () => {
    const world = new World(text("never"));
    const first = await world.boot({ drive: "manual" });
    void first.harness.prompt("go").catch(() => undefined);
    await stepTo(first.harness, "provider_request");
    await first.harness.close();
    const { harness, suspended } = await world.boot();
    expect(suspended).toHaveLength(1);
    expect(await harness.abort()).toMatchObject({ ok: true });
    await harness.waitForIdle();
    expect(await harness.getLastResult()).toMatchObject({ outcome: "aborted" });
    expect(said(world)).toEqual(["go", "assistant aborted"]);
    expect(world.requests).toHaveLength(0);
  });

  it("is gone on with after a crash by whoever resumes", async () => {
    const { asked, reply } = answering();
    const world = new World(reply);
    const first = await world.boot();
    void first.harness.prompt("go").catch(() => undefined);
    await asked.opened;
    await first.harness.steer("left");
    await first.harness.abort();
    await first.harness.close();
    const { harness, suspended } = await world.boot();
    expect(suspended).toMatchObject([{ aborting: { steer: [{ role: "user" }], followUp: [] } }]);
    expect(await harness.resume()).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(world.requests).toHaveLength(1);
  });
});

describe("after a cancellation", () => {
  it("nothing is admitted to the queues but writes, and the lane's next run", async () => {
    const { asked, answer, reply } = answering();
    const world = new World(reply);
    const { harness, session } = await world.boot();
    const run = harness.prompt("go");
    await asked.opened;
    await harness.abort();
    expect(await harness.steer("no")).toMatchObject({ ok: false, error: { _tag: "NoActiveRun" } });
    expect(await harness.followUp("no")).toMatchObject({ ok: false, error: { _tag: "NoActiveRun" } });
    expect(await harness.nextRun("next")).toMatchObject({ ok: true });
    await session.appendCustomEntry("note", 1);
    answer.open();
    await run;
    expect(said(world)).toEqual(["go", "assistant aborted", "custom"]);
    const lane = world.disk.dump().registers.find(({ namespace }) => namespace === "lane.state");
    expect(lane?.value).toMatchObject({ currentOperationId: null, pendingNextRun: [expect.any(String)] });
  });

  it("a drained item can no longer be taken back", async () => {
    const { asked, answer, reply } = answering();
    const world = new World(reply);
    const { harness } = await world.boot();
    const run = harness.prompt("go");
    await asked.opened;
    const steer = await harness.steer("left");
    await harness.abort();
    const id = steer.ok ? steer.value.entryId : "";
    expect(await harness.cancelQueued(id)).toMatchObject({ ok: true, value: { kind: "not_found" } });
    answer.open();
    await run;
  });

  it("a running call keeps its result and does not end the run by it; the calls behind it are not executed", async () => {
    const { started, done, execute } = waiting({ terminate: true });
    const world = new World(calls({ id: "c1", name: "a" }, { id: "c2", name: "a" }));
    const a = world.tool("a", { execute });
    const { harness } = await world.boot({ tools: [a], toolExecution: "sequential" });
    const run = harness.prompt("go");
    await started.opened;
    await harness.abort();
    done.open();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(said(world)).toEqual([
      "go",
      "assistant toolUse",
      "c1 real",
      "c2 The tool call was not executed: the caller cancelled the run before a was started.",
    ]);
    const results = world.disk.dump().entries.filter((entry) => "terminate" in entry && entry.terminate);
    expect(results).toEqual([]);
    expect(world.executions).toHaveLength(1);
  });

  it("a refusal that waits for its turn is overtaken like any planned call", async () => {
    const { started, done, execute } = waiting();
    const world = new World(calls({ id: "c1", name: "a" }, { id: "c2", name: "nobody" }));
    const a = world.tool("a", { execute });
    const { harness } = await world.boot({ tools: [a] });
    const run = harness.prompt("go");
    await started.opened;
    await harness.abort();
    done.open();
    await run;
    expect(said(world).at(-1)).toContain("was not executed");
  });

  it("no attempt follows on one that failed", async () => {
    const world = new World([failure("503 overloaded"), text("second")]);
    const retry = { enabled: true, maxRetries: 2, baseDelayMs: 1000 };
    const { harness } = await world.boot({ drive: "manual", retry });
    const run = harness.prompt("go");
    await stepTo(harness, "sleep");
    await harness.abort();
    await harness.runToCompletion();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(world.requests).toHaveLength(1);
    expect(world.commits.slice(-2).map(phaseAfter)).toEqual(["assistant retry_wait", "gone"]);
  });
});
