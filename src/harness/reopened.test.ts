/**
 * Every state that queues and cancellation add, as it is stored: reached by real commits, closed, opened by another
 * process. What comes next follows from what is stored, and so does the end.
 */
import { describe, expect, it } from "vitest";
import type { OperationState } from "../model/index.ts";
import { describeState } from "../operation/index.ts";
import type { Session } from "../session/index.ts";
import type { AgentHarness } from "./agent-harness.ts";
import { type Answer, calls, failure, text, World } from "./testing/scripted.ts";

interface Case {
  readonly turns: (Answer | Answer[])[];
  /** The action before which the first process stands when the calls are made. */
  readonly at: readonly [kind: string, about?: string];
  readonly calls: (harness: AgentHarness, session: Session) => Promise<unknown>;
  readonly stored: string;
  /** The first action of the process that resumes. */
  readonly next: readonly [kind: string, about: string];
  readonly end: string;
}

const note = { role: "user", content: "note", timestamp: 1 } as const;
const steer = (harness: AgentHarness) => harness.steer("left");
const followUp = (harness: AgentHarness) => harness.followUp("more");
const write = (_harness: AgentHarness, session: Session) => session.appendMessage(note);
const custom = (_harness: AgentHarness, session: Session) => session.appendCustomEntry("note", 1);
const abort = (harness: AgentHarness) => harness.abort();
const consumes = ["commit_transition", "commit inbox_consumed"] as const;
const starts = ["commit_transition", "commit generation_started"] as const;
const ends = (outcome: string) => ["commit_terminal", `end the operation as ${outcome}`] as const;
const asksForTool = calls({ id: "c1", name: "safe" }, { id: "c2", name: "never" });
const overloaded = [failure("503 overloaded"), text("later")];
const refused = [failure("401 invalid key"), text("later")];

const CASES: Record<string, Case> = {
  "steering at a checkpoint that drains": {
    turns: [calls({ id: "c1", name: "safe" }), text("x"), text("y")],
    at: ["commit_transition", "(run: checkpoint need_assistant)"],
    calls: async (harness) => {
      // The first checkpoint is that of the prompt, which skips the inbox; the second comes after the batch.
      while ((await harness.peekAction())?.kind !== "tool_execution") await harness.executeAction();
      await harness.executeAction();
      await harness.executeAction();
      return harness.steer("left");
    },
    stored: "run: checkpoint need_assistant",
    next: consumes,
    end: "completed",
  },
  "steering at a checkpoint that skips its inbox": {
    turns: [text("x"), text("y")],
    at: ["commit_transition", "(run: checkpoint need_assistant)"],
    calls: steer,
    stored: "run: checkpoint need_assistant",
    next: starts,
    end: "completed",
  },
  "a write at a checkpoint that may finish": {
    turns: [text("x"), text("y")],
    at: ["commit_terminal"],
    calls: write,
    stored: "run: checkpoint may_finish",
    next: consumes,
    end: "completed",
  },
  "a follow-up at a checkpoint that may finish": {
    turns: [text("x"), text("y")],
    at: ["commit_terminal"],
    calls: followUp,
    stored: "run: checkpoint may_finish",
    next: consumes,
    end: "completed",
  },
  "steering after a failure": {
    turns: [refused],
    at: ["commit_terminal"],
    calls: steer,
    stored: "run: failure_drain",
    next: consumes,
    end: "completed",
  },
  "a custom write after a failure": {
    turns: [refused],
    at: ["commit_terminal"],
    calls: custom,
    stored: "run: failure_drain",
    next: consumes,
    end: "failed",
  },
  "an item behind a pending request": {
    turns: [text("x"), text("y")],
    at: ["provider_request"],
    calls: followUp,
    stored: "run: assistant effect_pending",
    next: ["commit_transition", "commit attempt_given_up"],
    end: "completed",
  },
  "cancelled at a checkpoint that needs a response": {
    turns: [text("x")],
    at: ["commit_transition", "generation_started"],
    calls: abort,
    stored: "run: checkpoint need_assistant",
    next: ends("aborted"),
    end: "aborted",
  },
  "cancelled at a checkpoint that may finish": {
    turns: [text("x")],
    at: ["commit_terminal"],
    calls: abort,
    stored: "run: checkpoint may_finish",
    next: ends("aborted"),
    end: "aborted",
  },
  "cancelled with a deferred write": {
    turns: [text("x")],
    at: ["commit_terminal"],
    calls: async (harness, session) => {
      await session.appendMessage(note);
      await harness.abort();
    },
    stored: "run: checkpoint may_finish",
    next: consumes,
    end: "aborted",
  },
  "cancelled when ready": {
    turns: [text("x")],
    at: ["commit_transition", "request_intended"],
    calls: abort,
    stored: "run: assistant ready",
    next: ends("aborted"),
    end: "aborted",
  },
  "cancelled with a pending request": {
    turns: [text("x")],
    at: ["provider_request"],
    calls: abort,
    stored: "run: assistant effect_pending",
    next: ["commit_settlement", "settle assistant:"],
    end: "aborted",
  },
  "cancelled in a back-off": {
    turns: [overloaded],
    at: ["sleep"],
    calls: abort,
    stored: "run: assistant retry_wait",
    next: ends("aborted"),
    end: "aborted",
  },
  "cancelled with planned calls": {
    turns: [asksForTool],
    at: ["commit_transition", "tool_cleared"],
    calls: abort,
    stored: "run: tools",
    next: ["commit_settlement", "settle tool:"],
    end: "aborted",
  },
  "cancelled with a pending call that is safe": {
    turns: [asksForTool],
    at: ["tool_execution"],
    calls: abort,
    stored: "run: tools",
    next: ["commit_settlement", "settle tool:"],
    end: "aborted",
  },
  "cancelled after a failure": {
    turns: [refused],
    at: ["commit_terminal"],
    calls: abort,
    stored: "run: failure_drain",
    next: ends("aborted"),
    end: "aborted",
  },
};

async function boot(world: World) {
  const tools = [world.tool("safe", { replay: "safe" }), world.tool("never")];
  const retry = { enabled: true, maxRetries: 1, baseDelayMs: 1000 };
  return world.boot({ drive: "manual", toolExecution: "sequential", tools, retry });
}

const stateOf = (world: World) =>
  world.disk.dump().registers.find(({ namespace }) => namespace === "op.state")?.value as OperationState;

describe("a stored state", () => {
  it.each(Object.entries(CASES))("%s", async (_name, { turns, at, calls: make, stored, next, end }) => {
    const world = new World(...turns);
    const first = await boot(world);
    void first.harness.prompt("go").catch(() => undefined);
    const [kind, about = ""] = at;
    for (;;) {
      const parked = await first.harness.peekAction();
      if (parked === undefined) throw new Error(`the run has no ${kind} ${about}`);
      if (parked.kind === kind && parked.description.includes(about)) break;
      await first.harness.executeAction();
    }
    // What an abort leaves to do stays undone: the process ends before anything is executed.
    await make(first.harness, first.session);
    await first.harness.close();
    const { length: commitCount } = world.commits;
    expect(describeState(stateOf(world))).toBe(stored);

    const { harness, suspended } = await boot(world);
    expect(suspended).toHaveLength(1);
    const run = harness.resume();
    const [nextKind, nextAbout] = next;
    const action = await harness.peekAction();
    expect(action).toMatchObject({ kind: nextKind, description: expect.stringContaining(nextAbout) });
    expect(world.commits).toHaveLength(commitCount);
    const { length: requests } = world.requests;
    await harness.runToCompletion();
    expect(await run).toMatchObject({ ok: true, value: { kind: end } });
    if (end === "aborted") expect(world.requests).toHaveLength(requests);
    const left = world.disk.dump().registers.map(({ namespace }) => namespace);
    expect(left.filter((namespace) => /^(op|pending)\./.test(namespace))).toEqual([]);
  });

  it("an idle lane with items for its next run has nothing to resume, and the next prompt captures them", async () => {
    const world = new World(text("x"));
    const first = await world.boot();
    await first.harness.nextRun("one");
    await first.harness.close();
    const { harness, suspended } = await world.boot();
    expect(suspended).toEqual([]);
    expect(await harness.resume()).toMatchObject({ ok: false, error: { _tag: "NothingToResume" } });
    await harness.prompt("two");
    expect(world.requests[0]?.messages).toMatchObject([
      { content: [{ text: "one" }] },
      { content: [{ text: "two" }] },
    ]);
  });
});

/** A run with everything in it that this slice adds: queues, deferred writes, cancellation. */
async function everything(world: World): Promise<void> {
  const { harness, session, suspended } = await world.boot({
    tools: [world.tool("safe", { replay: "safe" })],
  });
  if (suspended.length > 0) await harness.resume();
  await harness.nextRun("queued");
  const run = harness.prompt("go");
  // A fault rejects every call; the first one that is awaited tells.
  run.catch(() => undefined);
  await harness.steer("left");
  await session.appendCustomEntry("note", 1);
  await session.appendMessage(note);
  const item = await harness.followUp("more");
  await harness.cancelQueued(item.ok ? item.value.entryId : "");
  await run;
  const other = harness.prompt("again");
  other.catch(() => undefined);
  await session.appendMessage(note);
  await harness.abort();
  await other;
  await harness.close();
}

const script = () => [
  calls({ id: "c1", name: "safe" }),
  text("one"),
  text("two"),
  text("three"),
  text("four"),
];

describe("everything at once", () => {
  it("faults at a commit that fails, wherever it is, and another process takes it to an idle lane", async () => {
    const whole = new World(...script());
    await everything(whole);
    expect(whole.commitCount).toBeGreaterThan(20);
    for (let commit = 0; commit < whole.commitCount; commit++) {
      for (const position of ["before", "after"] as const) {
        const world = new World(...script());
        world.death = { commit, position };
        await expect(everything(world)).rejects.toThrow(/faulted|process died/);
        world.death = undefined;
        await endsIdle(world);
      }
    }
  });

  it("is left as it is stored by a close at every action, and another process takes it to an idle lane", async () => {
    let closedCount = 0;
    for (let at = 0; ; at++) {
      const world = new World(...script());
      const { harness, session } = await world.boot({
        drive: "manual",
        tools: [world.tool("safe", { replay: "safe" })],
      });
      await harness.nextRun("queued");
      const run = harness.prompt("go");
      run.catch(() => undefined);
      for (let step = 0; step < at; step++) {
        await harness.executeAction();
        // Said again at every step, so that each state is closed with something in its queues.
        if (step % 3 === 0) await harness.steer(`steer ${step}`);
        if (step % 4 === 1) await session.appendMessage(note);
        if (step === 9) await harness.abort();
      }
      const { commitCount } = world;
      await harness.close();
      expect(world.commitCount).toBe(commitCount);
      // Not accepted yet, it is refused; accepted, it is rejected; ended, there is nothing left to close.
      const outcome = JSON.stringify(await run.catch((error: unknown) => error));
      if (outcome.includes('"ok":true')) break;
      expect(outcome).toMatch(/Closed|HARNESS_CLOSED/);
      closedCount++;
      await endsIdle(world);
    }
    // The cancellation comes at the tenth action, and leaves at least the writes and the end to do.
    expect(closedCount).toBeGreaterThan(11);
  });
});

async function endsIdle(world: World): Promise<void> {
  const { harness, suspended } = await world.boot({ tools: [world.tool("safe", { replay: "safe" })] });
  if (suspended.length > 0) expect(await harness.resume()).toMatchObject({ ok: true });
  await harness.close();
  const { registers } = world.disk.dump();
  expect(registers.filter(({ namespace }) => namespace.startsWith("op."))).toEqual([]);
  const lane = registers.find(({ namespace }) => namespace === "lane.state")?.value;
  const pending = registers.filter(({ namespace }) => namespace === "pending.entry").map(({ key }) => key);
  expect(lane).toEqual({ currentOperationId: null, pendingNextRun: pending });
}
