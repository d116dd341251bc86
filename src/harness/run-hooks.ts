/**
 * The hooks around a run: before it is accepted, before it is resumed, before it ends (spec §5.6).
 *
 * `before_run` runs before acceptance, off the mutation line, with the id that the operation will have; if the lane is
 * taken meanwhile, its output is dropped and no operation exists. `before_run_end` may ask for the run to go on; what it
 * says is placed only if the run still stands where it was asked, so an abort that came first drops it.
 */
import type { AgentMessage, JsonObject, JsonValue, Operation } from "../model/index.ts";
import type { CurrentOperation } from "../operation/index.ts";
import { detachJson } from "../session/index.ts";
import type { DriveState } from "./drive-state.ts";
import type { Environment } from "./environment.ts";
import { contextAt } from "./generation.ts";
import { type HookSite, InvalidHookOutput, runHooks } from "./hook-pipeline.ts";
import type { BeforeResumePrepared } from "./hooks.ts";

/** What the handlers of `before_run` came to. */
export interface BeforeRunOutput {
  readonly injected: readonly AgentMessage[];
  readonly systemPromptOverride?: string;
  readonly resumeData?: JsonObject;
}

/** Asks before a run is accepted. */
export async function beforeRun(
  environment: Environment,
  site: HookSite,
  prompt: readonly AgentMessage[],
): Promise<BeforeRunOutput> {
  if (!environment.hooks.has("before_run")) return { injected: [] };
  const preview = (await environment.resolveSystemPrompt()) ?? "";
  const { resources } = environment;
  return runHooks(environment, site, "before_run", { injected: [] } as BeforeRunOutput, {
    event: ({ injected, systemPromptOverride }) => ({
      prompt: [...prompt, ...injected],
      systemPrompt: systemPromptOverride ?? preview,
      resources,
    }),
    apply: (state, { messages = [], systemPrompt, resumeData }, { id = "" }) => {
      if (!Array.isArray(messages)) throw new InvalidHookOutput("before_run", "messages is no list");
      if (systemPrompt !== undefined && typeof systemPrompt !== "string") {
        throw new InvalidHookOutput("before_run", "systemPrompt is no text");
      }
      const admitted = messages.map((message) => admittedMessage(environment, message));
      const kept = resumeData === undefined ? {} : detachJson({ [id]: resumeData });
      return {
        injected: [...state.injected, ...admitted],
        ...(systemPrompt === undefined
          ? overrideOf(state)
          : { systemPromptOverride: detachJson(systemPrompt) }),
        ...(state.resumeData || resumeData !== undefined
          ? { resumeData: { ...state.resumeData, ...kept } }
          : {}),
      };
    },
  });
}

/** Asks before a resumed operation does anything. Each handler gets its own resume data. */
export async function beforeResume(
  environment: Environment,
  site: HookSite,
  operation: Operation,
): Promise<void> {
  if (!environment.hooks.has("before_resume")) return;
  const prepared = await preparedOf(environment, operation);
  const data = operation.intent.kind === "run" ? operation.intent.resumeData : undefined;
  await runHooks(environment, site, "before_resume", undefined, {
    event: (_state, { id = "" }) => {
      const own: JsonValue | undefined = data && Object.hasOwn(data, id) ? data[id] : undefined;
      return own === undefined ? prepared : { ...prepared, resumeData: own };
    },
    apply: () => undefined,
  });
}

/** Asks before a run ends normally; answers the message with which it is to go on. */
export async function beforeRunEnd(
  environment: Environment,
  live: DriveState,
  site: HookSite,
  current: CurrentOperation,
): Promise<AgentMessage | undefined> {
  if (!environment.hooks.has("before_run_end")) return undefined;
  const messages = [...(await contextAt(environment, live, current.leafId))];
  const followUp = await runHooks(environment, site, "before_run_end", "", {
    event: () => ({ messages }),
    apply: (state, answer) => {
      if (answer.followUp === undefined) return state;
      const said: unknown = detachJson(answer.followUp);
      if (typeof said !== "string") throw new InvalidHookOutput("before_run_end", "followUp is no text");
      return said;
    },
  });
  if (followUp === "") return undefined;
  const timestamp = environment.clock.now();
  return admittedMessage(environment, {
    role: "user",
    content: [{ type: "text", text: followUp }],
    timestamp,
  });
}

function overrideOf({ systemPromptOverride }: BeforeRunOutput): { systemPromptOverride?: string } {
  return systemPromptOverride === undefined ? {} : { systemPromptOverride };
}

function admittedMessage({ session }: Environment, message: AgentMessage): AgentMessage {
  const admitted = session.admitMessage(message);
  if (admitted.ok) return admitted.value;
  const { path, expected, found } = admitted.error;
  throw new TypeError(`a message cannot be stored: ${path || "it"} should be ${expected}, and is ${found}`);
}

async function preparedOf({ session }: Environment, operation: Operation): Promise<BeforeResumePrepared> {
  const { intent, sourceLeafId } = operation;
  switch (intent.kind) {
    case "run": {
      const entries = await session.getEntries(intent.promptEntryIds);
      const prompt = intent.promptEntryIds.flatMap((id) => {
        const entry = entries.get(id);
        return entry?.type === "message" ? [entry.message] : [];
      });
      const { systemPromptOverride } = intent;
      return { kind: "run", prompt, ...(systemPromptOverride === undefined ? {} : { systemPromptOverride }) };
    }
    case "compaction":
      return { sourceLeafId, ...intent };
    case "navigation":
      return { sourceLeafId, ...intent };
  }
}
