/**
 * The provider suite: what a harness relies on in a registry of models (message types §3, §4, §5, §7, §8; spec §3.2,
 * §4.6).
 *
 * The heart is the signal contract: a response is `aborted` if and only if the signal that was given fired. All other
 * failures are `error`, in-band; nothing throws. A deferred answer carries a handle that survives storage, and a poll
 * that is not ready gives the very same handle back.
 */
import assert from "node:assert/strict";
import type { ConformanceCase } from "../case.ts";
import { casesOf, type PromiseGroup, promiseOver } from "../promise.ts";
import { soon } from "../soon.ts";
import { ask, assertStorable, context, terminalsOf } from "./asking.ts";
import { DEFERRED } from "./deferred.ts";
import type { ProviderCapability, ProviderFactory, ProviderHandle } from "./factory.ts";

export type { ProviderCapability, ProviderFactory, ProviderHandle, ServiceScript } from "./factory.ts";

/** The cases for one provider. */
export function createProviderConformance(factory: ProviderFactory): ConformanceCase[] {
  return casesOf(GROUPS, factory);
}

const promise = promiseOver<ProviderHandle, ProviderCapability>();

const answering = { kind: "answers", text: "Hello." } as const;
const failing = { kind: "fails", message: "the service is overloaded" } as const;

const STREAMS: PromiseGroup<ProviderHandle, ProviderCapability> = {
  group: "streams",
  promises: [
    promise(
      "an answer ends with one terminal event, and it is the last",
      "message types §8",
      [],
      async (handle) => {
        handle.script(answering);
        const { events } = await ask(handle);
        assert.equal(terminalsOf(events).length, 1, "terminal events");
        assert.equal(events.at(-1)?.type, "done", "the last event");
      },
    ),
    promise("the result is the message of the terminal event", "message types §8", [], async (handle) => {
      handle.script(answering);
      const { events, message } = await ask(handle);
      const last = events.at(-1);
      assert.deepEqual(last?.type === "done" ? last.message : undefined, message);
      assert.equal(last?.type === "done" && last.reason, message.stopReason, "the reason of the event");
    }),
    promise(
      "partials are pending, and the final message is settled and storable",
      "message types §2, §3",
      [],
      async (handle) => {
        handle.script(answering);
        const { events, message } = await ask(handle);
        for (const event of events)
          if ("partial" in event) assert.equal(event.partial.stopReason, "pending", event.type);
        assertStorable(message);
        assert.equal(message.stopReason, "stop");
        const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
        assert.equal(text, answering.text);
      },
    ),
    promise("a completion is the final message of a stream", "message types §7", [], async (handle) => {
      handle.script(answering);
      const message = await handle.models.completeSimple(handle.model, context());
      assertStorable(message);
      assert.equal(message.stopReason, "stop");
    }),
    promise("a request leaves its context as it was", "message types §7", [], async (handle) => {
      handle.script(answering);
      const asked = context();
      await ask(handle, {}, asked);
      assert.deepEqual(asked, context());
    }),
    promise(
      "calls have ids, names and arguments that are objects",
      "message types §1",
      ["toolCalls"],
      async (handle) => {
        handle.script({ kind: "calls", toolName: "read", arguments: { path: "a" } });
        const { message } = await ask(handle);
        assertStorable(message);
        const [call] = message.content.filter((block) => block.type === "toolCall");
        assert.equal(message.stopReason, "toolUse");
        assert.ok(call !== undefined && call.id !== "", "the id of the call");
        assert.deepEqual([call.name, call.arguments], ["read", { path: "a" }]);
      },
    ),
  ],
};

const FAILURES: PromiseGroup<ProviderHandle, ProviderCapability> = {
  group: "failures",
  promises: [
    promise(
      "a failure of the service is an error event with its message, never a throw",
      "message types §7",
      ["failures"],
      async (handle) => {
        handle.script(failing);
        const { events, message } = await ask(handle);
        assert.equal(events.at(-1)?.type, "error", "the last event");
        assert.equal(terminalsOf(events).length, 1, "terminal events");
        assertStorable(message);
        assert.equal(message.stopReason, "error");
        assert.ok((message.errorMessage ?? "").includes(failing.message), "the message says what was wrong");
      },
    ),
    promise(
      "the result of a failure is the message of its error event",
      "message types §8",
      ["failures"],
      async (handle) => {
        handle.script(failing);
        const { events, message } = await ask(handle);
        const last = events.at(-1);
        assert.deepEqual(last?.type === "error" ? last.error : undefined, message);
        assert.equal(last?.type === "error" && last.reason, message.stopReason, "the reason of the event");
      },
    ),
    promise(
      "an unknown provider is an error event, never a throw",
      "message types §7",
      [],
      async (handle) => {
        const model = { ...handle.model, provider: "no such provider" };
        const { events, message } = await ask({ ...handle, model });
        assert.equal(events.at(-1)?.type, "error", "the last event");
        assert.equal(message.stopReason, "error");
      },
    ),
    promise(
      "an unknown model is undefined, a known one is found by its identity",
      "message types §7",
      [],
      async ({ models, model }) => {
        assert.equal(models.getModel(model.provider, "no such model"), undefined);
        assert.equal(models.getModel(model.provider, model.id)?.id, model.id);
        assert.ok(
          models.getModels(model.provider).some(({ id }) => id === model.id),
          "it is listed",
        );
      },
    ),
  ],
};

const SIGNALS: PromiseGroup<ProviderHandle, ProviderCapability> = {
  group: "signals",
  promises: [
    promise("a signal that is up before the request makes it aborted", "spec §4.6", [], async (handle) => {
      handle.script(answering);
      const { message } = await soon(ask(handle, { signal: AbortSignal.abort() }), "the request");
      assertStorable(message);
      assert.equal(message.stopReason, "aborted");
    }),
    promise(
      "a signal that fires during the request makes it aborted, soon",
      "spec §4.6",
      ["hangs"],
      async (handle) => {
        handle.script({ kind: "hangs" });
        const controller = new AbortController();
        const asked = ask(handle, { signal: controller.signal });
        await Promise.resolve();
        controller.abort();
        const { message } = await soon(asked, "the aborted request");
        assertStorable(message);
        assert.equal(message.stopReason, "aborted");
      },
    ),
    promise("a completion whose signal is up is aborted too", "spec §4.6", [], async (handle) => {
      handle.script(answering);
      const { models, model } = handle;
      const completed = models.completeSimple(model, context(), { signal: AbortSignal.abort() });
      const message = await soon(completed, "the completion");
      assertStorable(message);
      assert.equal(message.stopReason, "aborted");
    }),
    promise(
      "of two requests only that is aborted whose signal fired",
      "spec §4.6",
      ["hangs"],
      async (handle) => {
        handle.script({ kind: "hangs" });
        const [first, second] = [new AbortController(), new AbortController()];
        let isSecondOver = false;
        const asked = ask(handle, { signal: first.signal });
        const other = ask(handle, { signal: second.signal }).finally(() => {
          isSecondOver = true;
        });
        other.catch(() => undefined);
        await Promise.resolve();
        first.abort();
        assert.equal((await soon(asked, "the aborted request")).message.stopReason, "aborted");
        await new Promise((resolve) => setImmediate(resolve));
        assert.equal(isSecondOver, false, "the other request has ended");
        second.abort();
        await soon(other, "the other request");
      },
    ),
    promise("nothing is aborted whose signal did not fire", "spec §4.6", ["failures"], async (handle) => {
      handle.script(failing);
      const { message } = await ask(handle, { signal: new AbortController().signal });
      assert.equal(message.stopReason, "error");
    }),
    promise("a signal that fires after the end changes nothing", "spec §4.6", [], async (handle) => {
      handle.script(answering);
      const controller = new AbortController();
      const { message } = await ask(handle, { signal: controller.signal });
      const before = JSON.stringify(message);
      controller.abort();
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(JSON.stringify(message), before);
      assert.equal(message.stopReason, "stop");
    }),
  ],
};

const BILLS: PromiseGroup<ProviderHandle, ProviderCapability> = {
  group: "bills",
  promises: [
    promise(
      "usage is whole, and its totals are the sums of its parts",
      "message types §4",
      [],
      async (handle) => {
        handle.script(answering);
        const { usage } = (await ask(handle)).message;
        const { input, output, cacheRead, cacheWrite, totalTokens, cost } = usage;
        assert.equal(totalTokens, input + output + cacheRead + cacheWrite, "totalTokens");
        const sum = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
        assert.ok(Math.abs(cost.total - sum) < 1e-9, `cost.total is ${cost.total}, its parts are ${sum}`);
      },
    ),
    promise("an answer is one request", "spec §1.6", ["bill"], async (handle) => {
      handle.script(answering);
      const before = countOf(handle);
      await ask(handle);
      assert.equal(countOf(handle) - before, 1);
    }),
    promise("a completion is one request", "spec §1.6", ["bill"], async (handle) => {
      handle.script(answering);
      const before = countOf(handle);
      await handle.models.completeSimple(handle.model, context());
      assert.equal(countOf(handle) - before, 1);
    }),
    promise(
      "a failure is one request where no retry of the provider's own is asked for",
      "spec §1.6, §3.7",
      ["bill", "failures"],
      async (handle) => {
        handle.script(failing);
        const before = countOf(handle);
        await ask(handle, { maxRetries: 0 });
        assert.equal(countOf(handle) - before, 1);
      },
    ),
    promise(
      "the payload can be looked at and replaced, once a request",
      "message types §7",
      ["payload"],
      async (handle) => {
        handle.script(answering);
        const seen: unknown[] = [];
        const replaced = { replaced: true };
        await ask(handle, {
          onPayload: (payload) => {
            seen.push(payload);
            return replaced;
          },
        });
        assert.equal(seen.length, 1, "calls of onPayload");
        assert.deepEqual(handle.lastPayload?.(), replaced);
        await ask(handle, { onPayload: () => undefined });
        assert.notDeepEqual(handle.lastPayload?.(), replaced, "undefined keeps the payload");
      },
    ),
  ],
};

const GROUPS = [STREAMS, FAILURES, SIGNALS, BILLS, DEFERRED];

function countOf(handle: ProviderHandle): number {
  return handle.requestCount?.() ?? assert.fail("a provider that declares `bill` has `requestCount`");
}
