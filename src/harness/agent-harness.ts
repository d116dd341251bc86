/**
 * The harness: opens a session for driving, and owns what its lanes share (spec §5.2).
 *
 * `create` restores every lane, seeds the configuration of `main` if no harness was attached before (one commit of its
 * own), and starts nothing. Whatever was open is reported in `suspended`; the application decides when to `resume()`.
 * The seed is never a fallback: a lane that has a configuration keeps it, whatever the options say.
 *
 * After a crash an application reconciles like this: for each of `suspended`, `await lane.resume()`; for an operation
 * whose promise died with the process and that is not among them, `await lane.getLastResult()`.
 */
import { admitJson, type Clock, RealClock } from "../foundation/index.ts";
import {
  type AgentHarnessStreamOptions,
  AgentHarnessStreamOptionsSchema,
  type AgentHarnessTool,
  type AgentMessage,
  type CompactionSettings,
  CompactionSettingsSchema,
  DEFAULT_COMPACTION_SETTINGS,
  DEFAULT_QUEUE_MODE,
  DEFAULT_RETRY_POLICY,
  DEFAULT_THINKING_LEVEL,
  DEFAULT_TOOL_EXECUTION_MODE,
  type ImageContent,
  issueOf,
  type LaneConfiguration,
  type LaneLastResult,
  type Message,
  type Model,
  type Models,
  normalizeRetryPolicy,
  type QueueMode,
  type RetryPolicy,
  RetryPolicySchema,
  type ThinkingLevel,
  type ToolExecutionMode,
} from "../model/index.ts";
import { missingIdentities } from "../operation/index.ts";
import { configurationWrite, type EntryProjectors, MAIN_LANE, type Session } from "../session/index.ts";
import { registriesOf } from "./acceptance.ts";
import type { DecisionHooks } from "./decision-hooks.ts";
import { type Environment, type SettingsParts, ToolRegistry } from "./environment.ts";
import { HarnessLane } from "./lane.ts";
import { Lifecycle } from "./lifecycle.ts";
import type { ActionInfo } from "./manual-drive.ts";
import type {
  AbortResult,
  CancelQueuedResult,
  CompactionResult,
  NavigationResult,
  NextRunResult,
  QueueResult,
  ResumeResult,
  RunResult,
  SuspendedOperation,
} from "./outcomes.ts";
import { toProviderMessages } from "./provider-messages.ts";
import { promptOf, type RestoredLane, restoreLanes } from "./restore.ts";
import type { CompactOptions, NavigateOptions } from "./structural-acceptance.ts";
import { HarnessTreeWriter } from "./tree-writer.ts";

/** How a harness is made. Settings are validated here; a wrong one rejects `create`. */
export interface AgentHarnessOptions<TContext extends object | undefined = undefined> {
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
  streamOptions?: AgentHarnessStreamOptions;
  retry?: RetryPolicy;
  compaction?: CompactionSettings;
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
  toolExecution?: ToolExecutionMode;
  drive?: "automatic" | "manual";
  /** Default: the host's clock. */
  clock?: Clock;
  toProviderMessages?: (messages: AgentMessage[]) => Message[] | Promise<Message[]>;
  entryProjectors?: EntryProjectors;
  /** Handlers that decide structural work before a summary is generated (spec §5.6). */
  decisionHooks?: Partial<DecisionHooks>;
}

/** See the module header. As a lane, a harness is its lane `main`. */
export class AgentHarness<TContext extends object | undefined = undefined> {
  readonly name = MAIN_LANE;
  readonly #environment: Environment;
  readonly #lanes: ReadonlyMap<string, HarnessLane>;
  readonly #main: HarnessLane;
  /** Ties the type of the tools' context to the harness. */
  declare readonly toolContextType?: TContext;

  private constructor(environment: Environment, lanes: ReadonlyMap<string, HarnessLane>) {
    const main = lanes.get(MAIN_LANE);
    if (main === undefined) throw new Error("a restored session has the lane main");
    this.#environment = environment;
    this.#lanes = lanes;
    this.#main = main;
  }

  /**
   * Attaches a harness to a session. Starts no provider, tool, hook or timer.
   * @throws TypeError for wrong options; Corruption for a state that cannot be executed; whatever a commit rejects with.
   */
  static async create<TContext extends object | undefined = undefined>(
    options: AgentHarnessOptions<TContext>,
  ): Promise<{ harness: AgentHarness<TContext>; suspended: SuspendedOperation[] }> {
    const environment = environmentOf(options);
    const { session } = environment;
    const restored = await restoreLanes(session);
    // Restored first, so that nothing is written into a session that cannot be executed.
    if (restored.some(({ isConfigured }) => !isConfigured)) {
      const seed = seedOf(options, environment.tools);
      await session.commit({ writes: [configurationWrite(MAIN_LANE, seed)] });
    }
    const mode = options.drive ?? "automatic";
    const lanes = new Map(restored.map(({ lane }) => [lane, new HarnessLane(environment, lane, mode)]));
    session.writeTreesThrough(new HarnessTreeWriter(environment, (name) => lanes.get(name)));
    const suspended = restored.flatMap((lane) => suspendedOperation(environment, lane));
    return { harness: new AgentHarness<TContext>(environment, lanes), suspended };
  }

  /** A lane by name; undefined if there is none. Creates nothing. */
  async lane(name: string): Promise<HarnessLane | undefined> {
    return this.#lanes.get(name);
  }

  prompt(text: string, images?: readonly ImageContent[]): Promise<RunResult>;
  prompt(message: AgentMessage | readonly AgentMessage[]): Promise<RunResult>;
  prompt(
    input: string | AgentMessage | readonly AgentMessage[],
    images?: readonly ImageContent[],
  ): Promise<RunResult> {
    return typeof input === "string" ? this.#main.prompt(input, images) : this.#main.prompt(input);
  }

  compact(options?: CompactOptions): Promise<CompactionResult> {
    return this.#main.compact(options);
  }

  navigateTree(targetId: string | null, options?: NavigateOptions): Promise<NavigationResult> {
    return this.#main.navigateTree(targetId, options);
  }

  resume(): Promise<ResumeResult> {
    return this.#main.resume();
  }

  steer(message: string | AgentMessage, images?: readonly ImageContent[]): Promise<QueueResult> {
    return this.#main.steer(message, images);
  }

  followUp(message: string | AgentMessage, images?: readonly ImageContent[]): Promise<QueueResult> {
    return this.#main.followUp(message, images);
  }

  nextRun(message: string | AgentMessage, images?: readonly ImageContent[]): Promise<NextRunResult> {
    return this.#main.nextRun(message, images);
  }

  cancelQueued(entryId: string): Promise<CancelQueuedResult> {
    return this.#main.cancelQueued(entryId);
  }

  abort(): Promise<AbortResult> {
    return this.#main.abort();
  }

  getLeafId(): Promise<string | null> {
    return this.#main.getLeafId();
  }

  getLastResult(): Promise<LaneLastResult | undefined> {
    return this.#main.getLastResult();
  }

  peekAction(): Promise<ActionInfo | undefined> {
    return this.#main.peekAction();
  }

  executeAction(): Promise<ActionInfo | undefined> {
    return this.#main.executeAction();
  }

  runToCompletion(): Promise<void> {
    return this.#main.runToCompletion();
  }

  /**
   * Detaches: a controlled crash (spec §4.7). Nothing is written; commits that the store has accepted are drained, all
   * effects are told to stop, open operations stay as they are stored. Idempotent.
   */
  close(): Promise<void> {
    this.#environment.lifecycle.seal();
    return this.#environment.session.close();
  }
}

function seedOf<TContext extends object | undefined>(
  options: AgentHarnessOptions<TContext>,
  tools: ToolRegistry,
): LaneConfiguration {
  return {
    model: { provider: options.model.provider, modelId: options.model.id },
    thinkingLevel: options.thinkingLevel ?? DEFAULT_THINKING_LEVEL,
    activeToolNames: [...(options.activeToolNames ?? tools.names)],
  };
}

function environmentOf<TContext extends object | undefined>(
  options: AgentHarnessOptions<TContext>,
): Environment {
  const { toolContext, systemPrompt } = options;
  const resolveToolContext = async (): Promise<TContext> =>
    typeof toolContext === "function" ? toolContext() : (toolContext as TContext);
  const retry = checked("retry", RetryPolicySchema, options.retry ?? DEFAULT_RETRY_POLICY);
  return {
    session: options.session,
    models: options.models,
    clock: options.clock ?? new RealClock(),
    lifecycle: new Lifecycle(),
    tools: new ToolRegistry(options.tools ?? []),
    settings: settingsOf({
      streamOptions: checked("streamOptions", AgentHarnessStreamOptionsSchema, options.streamOptions ?? {}),
      retryPolicy: normalizeRetryPolicy(retry),
      compaction: checked(
        "compaction",
        CompactionSettingsSchema,
        options.compaction ?? DEFAULT_COMPACTION_SETTINGS,
      ),
      steeringMode: options.steeringMode ?? DEFAULT_QUEUE_MODE,
      followUpMode: options.followUpMode ?? DEFAULT_QUEUE_MODE,
      toolExecution: options.toolExecution ?? DEFAULT_TOOL_EXECUTION_MODE,
    }),
    entryProjectors: options.entryProjectors ?? {},
    decisionHooks: {
      before_compaction: options.decisionHooks?.before_compaction ?? [],
      before_navigation: options.decisionHooks?.before_navigation ?? [],
    },
    toProviderMessages: options.toProviderMessages ?? toProviderMessages,
    resolveToolContext,
    resolveSystemPrompt: async () =>
      typeof systemPrompt === "function" ? systemPrompt(await resolveToolContext()) : systemPrompt,
  };
}

function settingsOf(parts: SettingsParts): Environment["settings"] {
  const { streamOptions, retryPolicy, compaction, steeringMode, followUpMode, toolExecution } = parts;
  return {
    revision: 0,
    streamOptions,
    retryPolicy: admitJson(retryPolicy),
    run: admitJson({ compaction, steeringMode, followUpMode, toolExecution }),
  };
}

/** A setting, detached and frozen. @throws TypeError that names the place; NotJson for a value JSON cannot carry. */
function checked<T>(name: string, schema: Parameters<typeof issueOf>[0], value: T): T {
  const detached = admitJson(value);
  // The defaults were right when they were written, and a harness is made for every life of a process.
  if (DEFAULTS.has(value)) return detached;
  const issue = issueOf(schema, detached);
  if (issue === undefined) return detached;
  throw new TypeError(`option ${name}${issue.path}: expected ${issue.expected}, found ${issue.found}`);
}

const DEFAULTS: ReadonlySet<unknown> = new Set([DEFAULT_RETRY_POLICY, DEFAULT_COMPACTION_SETTINGS]);

function suspendedOperation(environment: Environment, restored: RestoredLane): SuspendedOperation[] {
  const { current } = restored;
  if (current === undefined) return [];
  const { operation, state } = current;
  const deferredSource =
    state.kind === "run" && state.phase.kind === "deferred"
      ? restored.entries.get(state.phase.deferred.sourceEntryId)
      : undefined;
  const handle =
    deferredSource?.type === "message" && deferredSource.message.role === "assistant"
      ? deferredSource.message.deferred
      : undefined;
  const prompt = promptOf(restored);
  const drained = (ids: readonly string[]) =>
    ids.flatMap((id) => {
      const pending = restored.pending.get(id);
      return pending?.type === "message" ? [pending.payload] : [];
    });
  return [
    {
      lane: restored.lane,
      operationId: operation.operationId,
      kind: operation.intent.kind,
      reason: handle ? "deferred" : "crash",
      startedAt: operation.startedAt,
      ...(prompt.length > 0 ? { prompt } : {}),
      ...(handle ? { deferred: handle } : {}),
      ...(state.control.status === "cancel_requested"
        ? {
            aborting: {
              steer: drained(state.control.drainedSteer),
              followUp: drained(state.control.drainedFollowUp),
            },
          }
        : {}),
      missing: missingIdentities(current.configuration, registriesOf(environment)) ?? {
        tools: [],
        models: [],
      },
    },
  ];
}
