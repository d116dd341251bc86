/**
 * An operation that somebody else ends (spec §4.9): at each point of a run a terminal transaction is committed past the
 * drive. The drive stops, writes nothing more, and its caller gets the result that was written.
 */
import { describe, expect, it } from "vitest";
import type { LaneLastResult, Write } from "../model/index.ts";
import { type OperationEvent, transition } from "../operation/index.ts";
import type { Session } from "../session/index.ts";
import type { AgentHarness } from "./agent-harness.ts";
import { restoreLanes } from "./restore.ts";
import { listening } from "./testing/listening.ts";
import { calls, failure, gate, text, World } from "./testing/scripted.ts";
import { stepTo } from "./testing/stepping.ts";

/** Commits the terminal transaction of the open operation, as an administrator would, and answers its result. */
async function endFromOutside(
  session: Session,
  how: Partial<Extract<OperationEvent, { kind: "finished" }>> = {},
): Promise<LaneLastResult | undefined> {
  const [restored] = await restoreLanes(session);
  const current = restored?.current;
  if (current === undefined) return undefined;
  const { operationId } = current.operation;
  const laneState = (await session.getRegister("lane.state", "main"))?.value;
  if (laneState === undefined) throw new Error("the lane has a state");
  const keys = async (namespace: "op.tool_args" | "op.preparation") =>
    (await session.listRegisters(namespace, `${operationId}:`)).map(({ key }) => key);
  const reads = {
    laneState,
    argumentKeys: await keys("op.tool_args"),
    preparationKeys: await keys("op.preparation"),
  };
  const { writes } = transition(current, { kind: "finished", outcome: { kind: "aborted" }, reads, ...how });
  await session.commit({ writes });
  return (await session.getRegister("lane.lastResult", "main"))?.value;
}

const script = () =>
  [
    [failure("503 overloaded"), calls({ id: "c1", name: "a" }, { id: "c2", name: "b" })],
    text("done"),
  ] as const;

async function boot() {
  const world = new World(...script());
  const tools = [world.tool("a"), world.tool("b", { replay: "safe" })];
  const retry = { enabled: true, maxRetries: 1, baseDelayMs: 1000 };
  const booted = await world.boot({ drive: "manual", tools, retry });
  return { world, ...booted };
}

const isTerminal = (writes: readonly Write[]) =>
  writes.some((write) => write.kind === "register" && write.namespace === "lane.lastResult");

describe("a terminal transaction from elsewhere", () => {
  it("ends the run at every action that is parked, and nothing is written after it", async () => {
    let actionCount = 0;
    for (let at = 0; ; at++) {
      const { world, harness, session } = await boot();
      const run = harness.prompt("go");
      for (let step = 0; step < at; step++) await harness.executeAction();
      const parked = await harness.peekAction();
      if (parked === undefined) break;
      actionCount++;
      const result = await endFromOutside(session);
      const { commitCount } = world;
      await harness.runToCompletion();
      const outcome = await run;
      expect(outcome, parked.description).toMatchObject({
        ok: true,
        value: { kind: "aborted", runId: result?.operationId, leafId: result?.leafId },
      });
      if (result?.finalAssistantEntryId !== undefined) {
        expect(outcome).toMatchObject({ value: { finalEntryId: result.finalAssistantEntryId } });
      }
      expect(world.commitCount, parked.description).toBe(commitCount);
      expect(world.commits.filter(isTerminal)).toHaveLength(1);
      const left = world.disk.dump().registers.map(({ namespace }) => namespace);
      expect(left.filter((namespace) => /^(op|pending)\./.test(namespace))).toEqual([]);
      expect(await harness.prompt([])).toMatchObject({ ok: false, error: { _tag: "InvalidMessage" } });
    }
    // Start, intent, request, settlement; the back-off and its end; a second attempt without a start; two calls with
    // clearance, execution and settlement; another generation; the end.
    expect(actionCount).toBe(4 + 2 + 3 + 6 + 4 + 1);
  });

  it("keeps an effect that is parked from starting", async () => {
    const { world, harness, session } = await boot();
    void harness.prompt("go");
    while ((await harness.peekAction())?.kind !== "provider_request") await harness.executeAction();
    await endFromOutside(session);
    await harness.runToCompletion();
    expect(world.requests).toEqual([]);
  });

  it("stops the signal of what still runs", async () => {
    const asked = gate();
    const answer = gate();
    const slow = gate();
    let signal: AbortSignal | undefined;
    const world = new World(calls({ id: "c1", name: "a" }, { id: "c2", name: "b" }));
    const wait = (until: Promise<void>) => async () => {
      await until;
      return { content: [{ type: "text" as const, text: "late" }], details: {} };
    };
    const a = world.tool("a", { execute: wait(answer.opened) });
    const b = world.tool("b", {
      execute: async (_id, _args, given) => {
        signal = given;
        asked.open();
        return wait(slow.opened)();
      },
    });
    const { harness, session } = await world.boot({ tools: [a, b] });
    const run = harness.prompt("go");
    await asked.opened;
    await endFromOutside(session);
    expect(signal?.aborted).toBe(false);
    answer.open();
    expect(await run).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(signal?.aborted).toBe(true);
    slow.open();
  });

  it("leaves an operation that nobody drives with nothing to resume", async () => {
    const { world, harness } = await boot();
    void harness.prompt("go").catch(() => undefined);
    await harness.executeAction();
    await harness.close();
    const second = await world.boot();
    const { words } = await listening(second.harness);
    const result = await endFromOutside(second.session);
    expect(await second.harness.resume()).toMatchObject({ ok: false, error: { _tag: "NothingToResume" } });
    expect(await second.harness.getLastResult()).toEqual(result);
    expect(words).toEqual(["run_end aborted"]);
    expect(await second.harness.lanes()).toMatchObject([{ name: "main", operation: null }]);
  });

  it("of an operation that nobody drives is seen by whoever looks, and told to whoever watched, once", async () => {
    type Look = (harness: AgentHarness) => Promise<unknown>;
    const looks: Record<string, Look> = {
      lanes: async (harness) => (await harness.lanes())[0]?.operation,
      watch: async (harness) => (await harness.watch()).snapshot.operation,
      watchSession: async (harness) => (await harness.watchSession()).snapshot.lanes,
    };
    for (const [name, look] of Object.entries(looks)) {
      const { world, harness } = await boot();
      void harness.prompt("go").catch(() => undefined);
      await harness.executeAction();
      await harness.close();
      const second = await world.boot();
      const { words } = await listening(second.harness);
      expect(await second.harness.lanes(), name).toMatchObject([{ operation: { status: "suspended" } }]);
      const result = await endFromOutside(second.session);
      const leafId = result?.leafId ?? null;
      const idle = name === "watchSession" ? [{ name: "main", leafId, operation: null }] : null;
      expect(await look(second.harness), name).toEqual(idle);
      for (const again of Object.values(looks)) await again(second.harness);
      expect(words, name).toEqual(["run_end aborted"]);
      expect(await second.harness.resume()).toMatchObject({ error: { _tag: "NothingToResume" } });
      expect(words, name).toEqual(["run_end aborted"]);
    }
  });

  it("is told to the drive before another operation can overwrite the result", async () => {
    const asked = gate();
    const answer = gate();
    const world = new World([
      async () => {
        asked.open();
        await answer.opened;
        return text("late");
      },
      text("second"),
    ]);
    const { harness, session } = await world.boot();
    const ends: unknown[] = [];
    harness.events.on("run_end", (event) => {
      ends.push(event);
    });
    const first = harness.prompt("one");
    await asked.opened;
    const result = await endFromOutside(session);
    expect(await harness.prompt("two")).toMatchObject({ ok: true, value: { kind: "completed" } });
    answer.open();
    expect(await first).toMatchObject({ ok: true, value: { kind: "aborted", runId: result?.operationId } });
    expect(ends).toMatchObject([{ runId: result?.operationId }, {}]);
    expect(await harness.prompt("three")).toMatchObject({ ok: true });
  });

  it("is told with what it published", async () => {
    const world = new World(text("one"), text("two"));
    world.summaries = [text("never")];
    const compaction = { enabled: true, reserveTokens: 1000, keepRecentTokens: 1 };
    const talk = await world.boot({ compaction });
    await talk.harness.prompt("first");
    await talk.harness.prompt("second");
    await talk.harness.close();
    const { harness, session } = await world.boot({ compaction, drive: "manual" });
    const { events } = await listening(harness);
    const outcome = harness.compact();
    await stepTo(harness, "provider_request");
    const made = { kind: "compaction", summary: "BY HAND", retainedTail: [], tokensBefore: 1 } as const;
    const entryId = session.idGenerator.next();
    await endFromOutside(session, {
      outcome: { kind: "published", summary: made, fromHook: true },
      publication: { summary: made, fromHook: true, entryId },
    });
    await harness.runToCompletion();
    expect(await outcome).toMatchObject({ ok: true, value: { kind: "completed", entry: { id: entryId } } });
    expect(events.at(-1)).toMatchObject({
      type: "compaction_end",
      outcome: "completed",
      entry: { id: entryId, summary: "BY HAND" },
    });
  });
});
