/**
 * One assistant request: build the context, stream, and turn whatever comes back into a response that can be stored
 * (spec §2.5, §3.7, §5.7).
 *
 * No failure of a provider is thrown. A model that is gone, a stream that throws, ends early or answers nonsense: each
 * becomes an `error` response, in-band, and is classified like any other (`provider-answer.ts`).
 */
import type {
  AssistantMessage,
  GenerationContext,
  Model,
  ModelIdentity,
  ProviderContext,
  ProviderStreamOptions,
  SettledAssistantMessage,
  ThinkingLevel,
  Tool,
} from "../model/index.ts";
import { syntheticResponse } from "../operation/index.ts";
import { readContext } from "../session/index.ts";
import { type DriveState, hookSite } from "./drive-state.ts";
import type { EffectPlan } from "./effects.ts";
import type { Environment } from "./environment.ts";
import { messageOf } from "./errors.ts";
import { type FailedResponse, offeredTool, settledForm, streamToEnd } from "./provider-answer.ts";
import { repairForProvider } from "./provider-messages.ts";
import { afterResponse, type ResponseMetadata, requestCallbacks, transformContext } from "./request-hooks.ts";
import { ResponseEvents } from "./step-events.ts";
import { inRequestSpan } from "./telemetry.ts";
import { type AdmitMessage, validUsage } from "./tool-call.ts";

type AssistantPlan = Extract<EffectPlan, { kind: "assistant" }>;

/** Sends the request of a plan and returns the response as it may be stored, before its classification. */
export async function requestAssistant(
  environment: Environment,
  live: DriveState,
  plan: AssistantPlan,
): Promise<SettledAssistantMessage> {
  const { context, responseEntryId } = plan.generation;
  const { configuration } = context;
  const { streamOptions } = plan;
  const told = new ResponseEvents(environment.publisher, plan.operation);
  const prepare = async (model: Model) => ({
    context: await buildContext(environment, live, plan, model),
    options: providerOptions(environment, live.controller.signal, { streamOptions, configuration }),
  });
  const request = { operation: plan.operation, model: configuration.model, prepare, told };
  const message = await answerOf(environment, live, request);
  told.end(message, responseEntryId);
  live.announced = responseEntryId;
  return message;
}

/** One request, as it is prepared and told. */
export interface ModelRequest {
  readonly operation: { readonly lane: string; readonly operationId: string };
  readonly model: ModelIdentity;
  readonly prepare: (model: Model) => Promise<{ context: ProviderContext; options: ProviderStreamOptions }>;
  readonly told?: ResponseEvents;
}

/** Sends one request to a model and turns whatever comes back into a response that can be stored. */
export async function answerOf(
  environment: Environment,
  live: DriveState,
  { operation, model: identity, prepare, told }: ModelRequest,
): Promise<SettledAssistantMessage> {
  const { provider, modelId } = identity;
  const model = environment.models.getModel(provider, modelId);
  const failed = failedResponse(environment, identity);
  if (model === undefined) return failed(`model ${provider}/${modelId} is not registered`);
  // Outside the catch: what the application computes here is trusted, and its failure faults the harness (spec §4.8).
  const { context, options } = await prepare(model);
  // Cancelled, or closed, while the context was built: the provider need not hear of it.
  if (live.controller.signal.aborted) return unsent(environment, identity);
  return hookedAnswer(environment, live, { operation, model: identity }, (callbacks) =>
    streamToEnd(environment.models.streamSimple(model, context, { ...options, ...callbacks }), (event) =>
      told?.stream(event),
    ),
  );
}

/** Sends a request with the callbacks of the harness; its answer is settled and has been through `after_response`. */
export async function hookedAnswer(
  environment: Environment,
  live: DriveState,
  { operation, model }: Pick<ModelRequest, "operation" | "model">,
  send: (
    callbacks: Pick<ProviderStreamOptions, "onPayload" | "onResponse" | "telemetryContext">,
  ) => Promise<AssistantMessage | undefined>,
  kind: "stream" | "fetch" = "stream",
): Promise<SettledAssistantMessage> {
  const failed = failedResponse(environment, model);
  const site = hookSite(live, operation);
  const { signal } = live.controller;
  const seen: ResponseMetadata = {};
  let message: AssistantMessage | undefined;
  try {
    const within = live.spans.step ?? live.spans.operation;
    message = await inRequestSpan(within, model, kind, (telemetryContext) =>
      send({ ...requestCallbacks(environment, site, seen), telemetryContext }),
    );
  } catch (error) {
    return failed(messageOf(error));
  }
  if (message === undefined) return failed("the stream ended without a response");
  const admit: AdmitMessage = (answer) => environment.session.admitMessage(answer);
  const settled = settledForm(admit, signal, message, failed);
  return afterResponse(environment, site, settled, { seen, signal });
}

/** What is stored where a provider gave nothing that can be; a usage that is valid by itself is kept. */
export function failedResponse(environment: Environment, model: ModelIdentity): FailedResponse {
  return (errorMessage, usage) => {
    const kept = validUsage(usage);
    return syntheticResponse({
      model,
      stopReason: "error",
      errorMessage,
      nowMs: environment.clock.now(),
      ...(kept ? { usage: kept } : {}),
    });
  };
}

/** The response to a request that the signal overtook. */
function unsent(environment: Environment, model: ModelIdentity): SettledAssistantMessage {
  return syntheticResponse({
    model,
    stopReason: "aborted",
    errorMessage: UNSENT_TEXT,
    nowMs: environment.clock.now(),
  });
}

const UNSENT_TEXT = "Cancelled by the caller before the request was sent.";

/** The context of a lane at a leaf, from what the drive remembers or from the store. */
export async function contextAt(
  environment: Environment,
  live: DriveState,
  leafId: string | null,
): Promise<NonNullable<DriveState["context"]>["messages"]> {
  if (live.context?.leafId !== leafId) {
    const messages = await readContext(environment.session, leafId, environment.entryProjectors);
    live.context = { leafId, messages };
  }
  return live.context.messages;
}

async function buildContext(
  environment: Environment,
  live: DriveState,
  plan: AssistantPlan,
  model: Model,
): Promise<ProviderContext> {
  const { intent } = plan.operation;
  const override = intent.kind === "run" ? intent.systemPromptOverride : undefined;
  const systemPrompt = override ?? (await environment.resolveSystemPrompt());
  const messages = await contextAt(environment, live, plan.leafId);
  const transformed = await transformContext(environment, hookSite(live, plan.operation), messages);
  const converted = await environment.toProviderMessages([...transformed]);
  const tools = activeTools(environment, plan.generation.context.configuration.activeToolNames);
  return {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    messages: repairForProvider(converted, model),
    ...(tools.length === 0 ? {} : { tools }),
  };
}

function activeTools(environment: Environment, activeToolNames: readonly string[]): Tool[] {
  return activeToolNames.flatMap((name) => {
    const tool = environment.tools.get(name);
    return tool === undefined ? [] : [offeredTool(tool)];
  });
}

/** The options of a request: the captured ones, and what only the harness adds. */
export function providerOptions(
  environment: Environment,
  signal: AbortSignal,
  { streamOptions, configuration }: Pick<GenerationContext, "streamOptions" | "configuration">,
): ProviderStreamOptions {
  const reasoning: ThinkingLevel = configuration.thinkingLevel;
  return {
    ...streamOptions,
    ...(reasoning === "off" ? {} : { reasoning }),
    sessionId: environment.session.metadata.id,
    signal,
  };
}
