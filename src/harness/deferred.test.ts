/** Deferred answers end to end: one poll a resume, restarts between polls, and what the provider is asked with. */
import { describe, expect, it } from "vitest";
import { recognise, StoreModel } from "../checkers/index.ts";
import type { AssistantMessage, DeferredFetchOptions, DeferredHandle, Models } from "../model/index.ts";
import { type Answer, calls, gate, HANDLE, MODEL, phaseAfter, text, World } from "./testing/scripted.ts";

const handle = { ...HANDLE, expiresAt: 1_700_000_086_400 };
const putOff: Answer = { stopReason: "deferred", deferred: handle };

interface Poll {
  readonly handle: DeferredHandle;
  readonly options: DeferredFetchOptions | undefined;
}

/** A world whose provider answers polls with these answers, one after another; the last one stays. */
function worldOf(turns: Answer[], ...answers: (Partial<AssistantMessage> | Error)[]) {
  const world = new World(...turns);
  const polls: Poll[] = [];
  const models: Models = {
    ...world.models(),
    fetchDeferred: async (_model, polled, options) => {
      polls.push({ handle: polled, options });
      const answer = answers[Math.min(polls.length, answers.length) - 1];
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error("no poll was expected");
      return message(world, answer);
    },
  };
  return { world, polls, models };
}

function message(world: World, answer: Partial<AssistantMessage>): AssistantMessage {
  const usage = { input: 0, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const origin = { api: MODEL.api, provider: MODEL.provider, model: MODEL.id };
  return {
    role: "assistant",
    content: [],
    ...origin,
    usage: { ...usage, cost },
    stopReason: "stop",
    timestamp: world.clock.now(),
    ...answer,
  };
}

/** Names of all commits, as the specification's rows. */
function rows(world: World): string[] {
  const model = StoreModel.fresh();
  return world.commits.map((writes, index) => {
    const found = recognise(writes, model);
    const result = world.log.flatMap((line) => (line.kind === "commit" ? [line.result] : []))[index];
    if (result !== undefined) model.apply(writes, result);
    return found.ok ? found.name : found.message;
  });
}

describe("a deferred answer", () => {
  it("suspends the run with its handle, and a resume polls once", async () => {
    const { world, polls, models } = worldOf([putOff], putOff as object, text("done"));
    const { harness } = await world.boot({ models });
    const run = await harness.prompt("go");
    expect(run).toMatchObject({
      ok: true,
      value: { kind: "suspended", reason: "deferred", deferred: handle },
    });
    expect(polls).toHaveLength(0);
    const pending = await harness.resume();
    expect(pending).toMatchObject({
      ok: true,
      value: { operation: "run", kind: "suspended", deferred: handle },
    });
    expect(polls).toHaveLength(1);
    const done = await harness.resume();
    expect(done).toMatchObject({
      ok: true,
      value: { kind: "completed", finalMessage: { stopReason: "stop" } },
    });
    expect(polls).toHaveLength(2);
    expect(world.disk.dump().entries).toHaveLength(4);
    expect(world.disk.dump().usage).toHaveLength(3);
  });

  it("is polled with the options that were captured, with deferred off, wait 0 and the harness's own signal", async () => {
    const { world, polls, models } = worldOf([putOff], text("done"));
    const streamOptions = { deferred: { window: "24h" }, timeoutMs: 5_000 } as const;
    const first = await world.boot({ models, streamOptions });
    await first.harness.prompt("go");
    await first.harness.close();
    const second = await world.boot({ models, streamOptions: { timeoutMs: 1 } });
    await second.harness.resume();
    expect(polls).toHaveLength(1);
    expect(polls[0]?.handle).toEqual(handle);
    expect(polls[0]?.options).toMatchObject({ deferred: false, wait: 0, timeoutMs: 5_000 });
    expect(polls[0]?.options?.signal).toBeInstanceOf(AbortSignal);
  });

  it("waits a day in virtual time as well as a moment: the run keeps nothing of the wait", async () => {
    const { world, models } = worldOf([putOff], text("done"));
    const { harness } = await world.boot({ models });
    await harness.prompt("go");
    world.clock.step(24 * 3_600_000);
    expect(await harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
    const [, , answer] = world.disk.dump().entries;
    expect(answer?.timestamp).toBe(1_700_086_400_000);
  });

  it("with tool calls executes them in the same resume", async () => {
    const { world, models } = worldOf([putOff, text("done")], calls({ id: "c1", name: "read" }));
    const { harness } = await world.boot({ models, tools: [world.tool("read")] });
    await harness.prompt("go");
    expect(await harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(world.executions).toEqual(["read {}"]);
    expect(rows(world)).toContain("deferred.settle.tools");
  });

  it.each([
    [
      "another handle",
      { stopReason: "deferred", deferred: { ...handle, id: "other" } },
      "answered with the handle of job other",
    ],
    ["an error of the provider", { stopReason: "error", errorMessage: "overloaded" }, "overloaded"],
    ["no handle at all", { stopReason: "deferred" }, "invalid at"],
    ["an abort that nobody asked for", { stopReason: "aborted" }, "an abort that nobody asked for"],
    ["a rejection", new Error("socket hang up"), "socket hang up"],
  ] as const)("that comes back as %s fails the run; polls never retry", async (_name, answer, said) => {
    const { world, polls, models } = worldOf([putOff], answer as Partial<AssistantMessage> | Error);
    const retry = { enabled: true, maxRetries: 3, baseDelayMs: 10 };
    const { harness } = await world.boot({ models, retry });
    await harness.prompt("go");
    expect(await harness.resume()).toMatchObject({
      ok: true,
      value: {
        kind: "failed",
        error: { message: expect.stringContaining(said) },
        finalMessage: { stopReason: "error" },
      },
    });
    expect(polls).toHaveLength(1);
    expect(rows(world)).toContain("deferred.settle.failed");
  });

  it("spends no poll while its model is not registered", async () => {
    const { world, polls, models } = worldOf([putOff], text("done"));
    const { harness } = await world.boot({ models });
    await harness.prompt("go");
    world.hasModel = false;
    expect(await harness.resume()).toMatchObject({ ok: false, error: { _tag: "MissingIdentities" } });
    expect(polls).toHaveLength(0);
    world.hasModel = true;
    expect(await harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
  });

  it("is reported with its handle after a restart, and polled again at the same number where a poll was lost", async () => {
    const { world, polls, models } = worldOf([putOff], text("done"));
    const first = await world.boot({ models });
    await first.harness.prompt("go");
    world.death = { commit: world.commitCount + 1, position: "before" };
    await expect(first.harness.resume()).rejects.toThrow("the process died");
    world.death = undefined;
    const second = await world.boot({ models });
    expect(second.suspended).toMatchObject([{ reason: "deferred", deferred: handle }]);
    const attempts: number[] = [];
    second.harness.hooks.on("before_request", ({ attempt }) => {
      attempts.push(attempt);
    });
    expect(await second.harness.resume()).toMatchObject({ ok: true, value: { kind: "completed" } });
    expect(polls).toHaveLength(2);
    expect(attempts).toEqual([1]);
    const numbers = world.commits.flatMap((writes) =>
      writes.flatMap((write) =>
        write.kind === "register" &&
        write.op === "set" &&
        write.namespace === "op.state" &&
        write.value.kind === "run" &&
        write.value.phase.kind === "deferred"
          ? [`${write.value.phase.deferred.status} ${write.value.phase.deferred.poll}`]
          : [],
      ),
    );
    expect(numbers).toEqual(["suspended 0", "effect_pending 1", "effect_pending 1"]);
    expect(world.commits.map(phaseAfter).at(-1)).toBe("gone");
  });

  it("parks its poll in manual drive, and shows it", async () => {
    const { world, polls, models } = worldOf([putOff], text("done"));
    const { harness } = await world.boot({ models, drive: "manual" });
    const run = harness.prompt("go");
    await harness.runToCompletion();
    await run;
    const resumed = harness.resume();
    expect(await harness.executeAction()).toMatchObject({
      kind: "commit_transition",
      details: { event: "poll_intended" },
    });
    expect(await harness.peekAction()).toMatchObject({ kind: "deferred_poll", details: { poll: 1 } });
    expect(polls).toHaveLength(0);
    await harness.runToCompletion();
    expect(await resumed).toMatchObject({ ok: true, value: { kind: "completed" } });
  });
});

describe("a deferred job that is cancelled", () => {
  /** A suspended run, and what its provider is asked to give up. */
  async function suspended(cancel: Models["cancelDeferred"] = async () => undefined) {
    const { world, polls, models } = worldOf([putOff]);
    const cancelled: { readonly handle: DeferredHandle; readonly signal: AbortSignal | undefined }[] = [];
    const cancelDeferred: Models["cancelDeferred"] = (model, of, options) => {
      cancelled.push({ handle: of, signal: options?.signal });
      return cancel(model, of, options);
    };
    const { harness } = await world.boot({ models: { ...models, cancelDeferred } });
    await harness.prompt("go");
    return { world, harness, polls, cancelled };
  }

  it("is given up once, by its handle, under a signal that is not the one of the run", async () => {
    const { world, harness, polls, cancelled } = await suspended();
    const { commitCount } = world;
    await Promise.all([harness.abort(), harness.abort()]);
    await harness.waitForIdle();
    expect(cancelled).toMatchObject([{ handle, signal: { aborted: false } }]);
    expect(polls).toEqual([]);
    expect(await harness.getLastResult()).toMatchObject({ outcome: "aborted" });
    // The cancellation and the end: nothing is stored of what the provider made of it.
    expect(world.commitCount).toBe(commitCount + 2);
  });

  it("ends the run whatever the provider makes of it, and where nobody knows the model any more", async () => {
    const refusing = await suspended(() => Promise.reject(new Error("too late")));
    await refusing.harness.abort();
    await refusing.harness.waitForIdle();
    expect(await refusing.harness.getLastResult()).toMatchObject({ outcome: "aborted" });
    const forgotten = await suspended();
    forgotten.world.hasModel = false;
    await forgotten.harness.abort();
    await forgotten.harness.waitForIdle();
    expect(forgotten.cancelled).toEqual([]);
    expect(await forgotten.harness.getLastResult()).toMatchObject({ outcome: "aborted" });
  });

  it("is given up beside its poll, by the identity that was captured and not the lane's of today", async () => {
    const { world, models } = worldOf([putOff]);
    const polling = gate();
    const cancelled: string[] = [];
    const { harness } = await world.boot({
      models: {
        ...models,
        fetchDeferred: (_model, _handle, options) => {
          polling.open();
          return new Promise((resolve) =>
            options?.signal?.addEventListener("abort", () => {
              resolve(message(world, { stopReason: "aborted" }));
            }),
          );
        },
        cancelDeferred: async ({ id }) => {
          cancelled.push(id);
        },
      },
    });
    await harness.prompt("go");
    const resumed = harness.resume();
    await polling.opened;
    await harness.setModel({ ...MODEL, id: "nobody knows it" });
    await harness.abort();
    expect(await resumed).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(cancelled).toEqual([MODEL.id]);
  });

  it("is left to the provider by a close, and given up again by whoever resumes", async () => {
    const { world, harness, cancelled } = await suspended((_model, _handle, options) => {
      return new Promise((_resolve, reject) => options?.signal?.addEventListener("abort", () => reject()));
    });
    await harness.abort();
    while (cancelled.length === 0) await Promise.resolve();
    await harness.close();
    expect(cancelled).toMatchObject([{ signal: { aborted: true } }]);
    let again = 0;
    const models: Models = {
      ...world.models(),
      cancelDeferred: async () => {
        again++;
      },
    };
    const next = await world.boot({ models });
    expect(await next.harness.resume()).toMatchObject({ ok: true, value: { kind: "aborted" } });
    expect(again).toBe(1);
  });
});
