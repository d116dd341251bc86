/**
 * The effects of a deferred job: one poll, and the cancellation of a source (spec §3.2, §4.6).
 *
 * A poll asks the provider once (`wait: 0`) with the options that the original generation captured; `deferred` is
 * forced off, because an answer that is ready must not be put off again. What comes back is a response like any other:
 * no failure of a provider is thrown.
 *
 * A cancellation is best effort. It has a signal of its own, which only the end of the harness raises, because the
 * signal of the operation is up already when a job is cancelled. Nothing is stored of its outcome.
 */
import type { SettledAssistantMessage } from "../model/index.ts";
import type { DriveState } from "./drive-state.ts";
import type { EffectPlan } from "./effects.ts";
import type { Environment } from "./environment.ts";
import { failedResponse, hookedAnswer, providerOptions } from "./generation.ts";
import { ResponseEvents } from "./step-events.ts";
import { inRequestSpan, type TelemetryContext } from "./telemetry.ts";

type PollPlan = Extract<EffectPlan, { kind: "deferred" }>;

/** Polls once and returns the answer as it may be stored, before its classification. */
export async function requestPoll(
  environment: Environment,
  live: DriveState,
  plan: PollPlan,
): Promise<SettledAssistantMessage> {
  const { responseEntryId } = plan.deferred;
  const message = await poll(environment, live, plan);
  new ResponseEvents(environment.publisher, plan.operation).end(message, responseEntryId);
  live.announced = responseEntryId;
  return message;
}

async function poll(
  environment: Environment,
  live: DriveState,
  { operation, deferred, handle, streamOptions }: PollPlan,
): Promise<SettledAssistantMessage> {
  const { provider, modelId } = deferred.configuration.model;
  const failed = failedResponse(environment, deferred.configuration.model);
  const model = environment.models.getModel(provider, modelId);
  if (model === undefined) return failed(`model ${provider}/${modelId} is not registered`);
  const { configuration } = deferred;
  const captured = providerOptions(environment, live.controller.signal, { streamOptions, configuration });
  const request = { operation, model: configuration.model };
  const send: Parameters<typeof hookedAnswer>[3] = (callbacks) => {
    const options = { ...captured, ...callbacks, deferred: false, wait: 0 };
    return environment.models.fetchDeferred(model, structuredClone(handle), options);
  };
  return hookedAnswer(environment, live, request, send, "fetch");
}

/** Asks the provider to give a job up. Never rejects. */
export async function requestCancellation(
  environment: Environment,
  { configuration, handle }: Extract<EffectPlan, { kind: "cancel_deferred" }>,
  within: TelemetryContext,
): Promise<void> {
  const { provider, modelId } = configuration.model;
  const model = environment.models.getModel(provider, modelId);
  if (model === undefined) return;
  const closing = new AbortController();
  const stopListening = environment.lifecycle.onEnd(() => closing.abort());
  try {
    const sessionId = environment.session.metadata.id;
    await inRequestSpan(within, configuration.model, "cancel", async (telemetryContext) => {
      const options = { sessionId, signal: closing.signal, telemetryContext };
      await environment.models.cancelDeferred(model, structuredClone(handle), options);
      return undefined;
    });
  } catch {
    // The job runs on and answers nobody; the run ends as aborted either way.
  } finally {
    stopListening();
  }
}
