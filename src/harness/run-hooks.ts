/**
 * The hooks around a run: before it is accepted, before it is resumed, before it ends (spec §5.6).
 *
 * `before_run` runs before acceptance, off the mutation line, with the id that the operation will have; if the lane is
 * taken meanwhile, its output is dropped and no operation exists. `before_run_end` may ask for the run to go on; what it
 * says is queued like a follow-up, so an abort that came first drops it.
 */
import { ok } from "../foundation/index.ts";
import type { AgentMessage, JsonObject, JsonValue, Operation } from "../model/index.ts";
import type { CurrentOperation } from "../operation/index.ts";
import { detachJson } from "../session/index.ts";
import type { DriveState } from "./drive-state.ts";
import type { Environment } from "./environment.ts";
import { contextAt } from "./generation.ts";
import { type HookSite, InvalidHookOutput, runHooks } from "./hook-pipeline.ts";
import type { BeforeResumePrepared } from "./hooks.ts";
import { queueInput } from "./queues.ts";

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
      const kept = resumeData === undefined ? {} : { [id]: detachJson(resumeData) };
      return {
        injected: [...state.injected, ...admitted],
        ...(systemPrompt === undefined ? overrideOf(state) : { systemPromptOverride: systemPrompt }),
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

/** Asks before a run ends normally. True: it goes on, with a follow-up that is queued now. */
export async function beforeRunEnd(
  environment: Environment,
  live: DriveState,
  site: HookSite,
  current: CurrentOperation,
  onLine: <T>(job: () => Promise<T>) => Promise<T>,
): Promise<boolean> {
  if (!environment.hooks.has("before_run_end")) return false;
  const messages = [...(await contextAt(environment, live, current.leafId))];
  const followUp = await runHooks(environment, site, "before_run_end", "", {
    event: () => ({ messages }),
    apply: (state, answer) => {
      if (answer.followUp === undefined) return state;
      if (typeof answer.followUp !== "string")
        throw new InvalidHookOutput("before_run_end", "followUp is no text");
      return answer.followUp;
    },
  });
  if (followUp === "") return false;
  const timestamp = environment.clock.now();
  const message = admittedMessage(environment, {
    role: "user",
    content: [{ type: "text", text: followUp }],
    timestamp,
  });
  const queued = await onLine(async () => {
    environment.lifecycle.admit();
    const { currentOperationId } =
      (await environment.session.getRegister("lane.state", site.lane))?.value ?? {};
    // Ended from outside while the hook ran: another run of the lane must not get what was meant for this one.
    if (currentOperationId !== site.runId) return ok(undefined);
    return queueInput(environment, site.lane, "followUp", message);
  });
  return queued.ok;
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
