/**
 * The hooks around a request: its context, its options, its payload, its response (spec §5.6).
 *
 * `before_request` runs before the intent is committed, the others after it. The callbacks that a provider gets are the
 * harness's own; a patch cannot replace them. `after_response` keeps the role, and answers `aborted` only if the
 * harness's signal is up; a cancellation that came before it leaves the response as the provider gave it.
 */
import {
  type AgentHarnessStreamOptions,
  type AgentMessage,
  BUILT_IN_MESSAGE_SCHEMAS,
  type Model,
  type ModelIdentity,
  type ProviderStreamOptions,
  type SettledAssistantMessage,
  validateMessage,
} from "../model/index.ts";
import type { Environment } from "./environment.ts";
import { type HookSite, InvalidHookOutput, runHooks } from "./hook-pipeline.ts";
import type { RequestStep } from "./hooks.ts";
import { patchedStreamOptions } from "./stream-options.ts";

/** The messages of a request as the hooks leave them. */
export function transformContext(
  environment: Environment,
  site: HookSite,
  messages: readonly AgentMessage[],
): Promise<readonly AgentMessage[]> {
  return runHooks(environment, site, "transform_context", messages, {
    event: (state) => ({ messages: [...state] }),
    apply: (_state, answer) => {
      const isList = Array.isArray(answer.messages) && answer.messages.every(isMessage);
      if (!isList) throw new InvalidHookOutput("transform_context", "messages is no list of messages");
      return answer.messages;
    },
  });
}

/** The options of a request as the hooks leave them, from what its step captured. */
export async function beforeRequest(
  environment: Environment,
  site: HookSite,
  request: {
    readonly step: RequestStep;
    readonly attempt: number;
    readonly model: ModelIdentity;
    readonly streamOptions: AgentHarnessStreamOptions;
  },
): Promise<AgentHarnessStreamOptions> {
  const { step, attempt } = request;
  const model = environment.models.getModel(request.model.provider, request.model.modelId);
  if (model === undefined) return request.streamOptions;
  return runHooks(environment, site, "before_request", request.streamOptions, {
    event: (streamOptions) => ({ model, step, attempt, streamOptions }),
    apply: (state, { streamOptions: patch }) => {
      return patch === undefined ? state : patchedStreamOptions(state, patch);
    },
  });
}

/** What a provider reported of its HTTP response. */
export interface ResponseMetadata {
  status?: number;
  headers?: Record<string, string>;
}

/** The callbacks that a request is sent with; `seen` is filled when the response begins. */
export function requestCallbacks(
  environment: Environment,
  site: HookSite,
  seen: ResponseMetadata,
): Pick<ProviderStreamOptions, "onPayload" | "onResponse"> {
  const onResponse = ({ status, headers }: { status: number; headers: Record<string, string> }) => {
    seen.status = status;
    seen.headers = { ...headers };
  };
  if (!environment.hooks.has("before_payload")) return { onResponse };
  const onPayload = (payload: unknown, model: Model) =>
    runHooks(environment, site, "before_payload", payload, {
      event: (state) => ({ model, payload: state }),
      apply: (_state, answer) => answer.payload,
    });
  return { onPayload, onResponse };
}

/** The response as the hooks leave it. */
export function afterResponse(
  environment: Environment,
  site: HookSite,
  message: SettledAssistantMessage,
  { seen, signal }: { seen: ResponseMetadata; signal: AbortSignal },
): Promise<SettledAssistantMessage> {
  return runHooks(environment, site, "after_response", message, {
    event: (state) => ({ ...seen, message: state }),
    apply: (state, answer) => {
      if (answer.message === undefined) return state;
      const admitted = environment.session.admitMessage(answer.message);
      if (!admitted.ok) {
        const { path, expected, found } = admitted.error;
        throw new InvalidHookOutput(
          "after_response",
          `${path || "the message"} should be ${expected}, is ${found}`,
        );
      }
      if (admitted.value.role !== "assistant") throw new InvalidHookOutput("after_response", "another role");
      if (admitted.value.stopReason === "aborted" && !signal.aborted) {
        throw new InvalidHookOutput("after_response", "aborted, and nobody aborted");
      }
      return admitted.value;
    },
  });
}

/** Whether a hook may put a value into a context. What an application's own roles look like is for its conversion to say. */
function isMessage(value: unknown): value is AgentMessage {
  const role = typeof value === "object" && value !== null && "role" in value ? value.role : undefined;
  if (typeof role !== "string") return false;
  return !Object.hasOwn(BUILT_IN_MESSAGE_SCHEMAS, role) || validateMessage(value) === undefined;
}
