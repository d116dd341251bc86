/** How a harness is made: its options, checked, and the environment that its lanes share (spec §5.2). */
import { type Clock, RealClock } from "../foundation/index.ts";
import {
  type AgentHarnessTool,
  type AgentMessage,
  DEFAULT_THINKING_LEVEL,
  type LaneConfiguration,
  type Message,
  type Model,
  type Models,
  type ThinkingLevel,
} from "../model/index.ts";
import type { EntryProjectors, Session } from "../session/index.ts";
import { type Environment, ToolRegistry } from "./environment.ts";
import { HookRegistry } from "./hooks.ts";
import { checkConfiguration, identityOf } from "./lane-configuration.ts";
import { Lifecycle } from "./lifecycle.ts";
import { toProviderMessages } from "./provider-messages.ts";
import { Publisher } from "./publisher.ts";
import type { Resources } from "./resources.ts";
import { firstSettings, type SettingsOptions } from "./settings.ts";
import { guardedTelemetry, NO_TELEMETRY, type TelemetryContext } from "./telemetry.ts";

/** Settings are validated here; a wrong one rejects `create`. Nothing here takes a signal: those are the harness's. */
export interface AgentHarnessOptions<TContext extends object | undefined = undefined>
  extends SettingsOptions {
  session: Session;
  models: Models;
  /** Seed of `main`, and of every lane that this harness creates later. */
  model: Model;
  thinkingLevel?: ThinkingLevel;
  /** Default: the names of `tools`. */
  activeToolNames?: readonly string[];
  tools?: readonly AgentHarnessTool<TContext>[];
  /** Resolved once per tool batch. */
  toolContext?: TContext | (() => TContext | Promise<TContext>);
  /** A function is evaluated per request. */
  systemPrompt?: string | ((context: TContext) => string | Promise<string>);
  /** Skills and prompt templates. */
  resources?: Resources;
  drive?: "automatic" | "manual";
  /** Default: the host's clock. */
  clock?: Clock;
  toProviderMessages?: (messages: AgentMessage[]) => Message[] | Promise<Message[]>;
  entryProjectors?: EntryProjectors;
  /** Default: nobody looks. */
  telemetryContext?: TelemetryContext;
}

/** @throws TypeError for a wrong option; NotJson for a value that JSON cannot carry. */
export function environmentOf<TContext extends object | undefined>(
  options: AgentHarnessOptions<TContext>,
): Environment {
  const { toolContext, systemPrompt } = options;
  const resolveToolContext = async (): Promise<TContext> =>
    typeof toolContext === "function" ? toolContext() : (toolContext as TContext);
  const telemetry = guardedTelemetry(options.telemetryContext ?? NO_TELEMETRY);
  const publisher = new Publisher(telemetry);
  const tools = new ToolRegistry(options.tools ?? []);
  const seed: LaneConfiguration = {
    model: identityOf(options.model),
    thinkingLevel: options.thinkingLevel ?? DEFAULT_THINKING_LEVEL,
    activeToolNames: [...(options.activeToolNames ?? tools.names)],
  };
  checkConfiguration(seed);
  return {
    session: options.session,
    models: options.models,
    clock: options.clock ?? new RealClock(),
    lifecycle: new Lifecycle(),
    publisher,
    telemetry,
    events: publisher.events,
    tools,
    settings: firstSettings(options),
    resources: structuredClone(options.resources ?? {}),
    seed,
    entryProjectors: options.entryProjectors ?? {},
    hooks: new HookRegistry(),
    toProviderMessages: options.toProviderMessages ?? toProviderMessages,
    resolveToolContext,
    resolveSystemPrompt: async () =>
      typeof systemPrompt === "function" ? systemPrompt(await resolveToolContext()) : systemPrompt,
  };
}
