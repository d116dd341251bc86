/** Deferred answers: the handle, its polls, its cancellation (message types §5, §7; spec §3.2, §4.6). */
import assert from "node:assert/strict";
import type { AssistantMessage, DeferredHandle } from "../../src/model/index.ts";
import { type PromiseGroup, promiseOver } from "../promise.ts";
import { soon } from "../soon.ts";
import { ask, assertStorable } from "./asking.ts";
import type { ProviderCapability, ProviderHandle } from "./factory.ts";

const promise = promiseOver<ProviderHandle, ProviderCapability>();

export const DEFERRED: PromiseGroup<ProviderHandle, ProviderCapability> = {
  group: "deferred answers",
  promises: [
    promise(
      "a deferred answer carries a handle that names its model and survives storage",
      "message types §5",
      ["deferred"],
      async (handle) => {
        const { message, job } = await defer(handle, 0);
        assertStorable(message);
        assert.deepEqual(JSON.parse(JSON.stringify(job)), job, "the handle is JSON");
        assert.deepEqual([job.provider, job.modelId], [handle.model.provider, handle.model.id]);
      },
    ),
    promise(
      "a poll that is not ready is settled as deferred, with an equal handle",
      "spec §3.2",
      ["deferred"],
      async (handle) => {
        const { job } = await defer(handle, 1);
        const polled = await poll(handle, job);
        assertStorable(polled);
        assert.equal(polled.stopReason, "deferred");
        assert.deepEqual(polled.deferred, job);
      },
    ),
    promise(
      "a poll that is ready is the answer, also for a handle that was stored and read",
      "spec §3.2",
      ["deferred"],
      async (handle) => {
        const { job } = await defer(handle, 1);
        await poll(handle, job);
        const polled = await poll(handle, JSON.parse(JSON.stringify(job)) as DeferredHandle);
        assertStorable(polled);
        assert.equal(polled.stopReason, "stop");
      },
    ),
    promise(
      "a poll of a job that does not exist is an error, in-band",
      "message types §7",
      ["deferred"],
      async (handle) => {
        const { job } = await defer(handle, 0);
        const polled = await poll(handle, { ...job, id: "no such job" });
        assertStorable(polled);
        assert.equal(polled.stopReason, "error");
      },
    ),
    promise(
      "a poll whose signal is up is aborted, and only then",
      "spec §4.6",
      ["deferred"],
      async (handle) => {
        const { job } = await defer(handle, 1);
        const { models, model } = handle;
        const polled = await soon(
          models.fetchDeferred(model, job, { wait: 0, signal: AbortSignal.abort() }),
          "the poll",
        );
        assert.equal(polled.stopReason, "aborted");
        assert.notEqual((await poll(handle, job)).stopReason, "aborted");
      },
    ),
    promise("a job can be cancelled, and nobody waits for it", "spec §4.6", ["deferred"], async (handle) => {
      const { job } = await defer(handle, 1);
      const { models, model } = handle;
      await soon(
        models.cancelDeferred(model, job).then(undefined, () => undefined),
        "the cancellation",
      );
    }),
  ],
};

async function defer(
  handle: ProviderHandle,
  pendingPolls: number,
): Promise<{ message: AssistantMessage; job: DeferredHandle }> {
  handle.script({ kind: "defers", pendingPolls, text: "Later." });
  const { message } = await ask(handle, { deferred: true });
  assert.equal(message.stopReason, "deferred", "the answer is deferred");
  assert.ok(message.deferred !== undefined, "it carries its handle");
  return { message, job: message.deferred };
}

async function poll({ models, model }: ProviderHandle, job: DeferredHandle): Promise<AssistantMessage> {
  try {
    return await models.fetchDeferred(model, job, { wait: 0 });
  } catch (error) {
    assert.fail(`the poll rejected instead of answering an error: ${String(error)}`);
  }
}
