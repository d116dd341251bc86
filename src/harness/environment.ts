/**
 * What all lanes of a harness share: the session, the registries, the settings, the application's callbacks.
 *
 * Registries and settings are process-local. What an operation needs of them later is captured into its durable state
 * (configuration, stream options, retry policy), so that a setter, or another process, never changes what an open
 * operation was started with. The revision of the settings rises with every change: a step that snapshots them commits
 * only if the revision is still the one it read (spec §4.3).
 */
import type { Clock } from "../foundation/index.ts";
import type {
  AgentHarnessStreamOptions,
  AgentHarnessTool,
  AgentMessage,
  LaneConfiguration,
  Message,
  Models,
  NormalizedRetryPolicy,
  RetryPolicy,
  RunSettings,
} from "../model/index.ts";
import type { ToolDeclaration } from "../operation/index.ts";
import type { EntryProjectors, Session } from "../session/index.ts";
import type { EventBus } from "./event-bus.ts";
import type { HookRegistry } from "./hooks.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Publisher } from "./publisher.ts";
import type { Resources } from "./resources.ts";
import type { TelemetryContext } from "./telemetry.ts";

/** A tool whose context type is erased: the harness passes on what the application gave it. */
export type AnyTool = AgentHarnessTool<unknown>;

/** The tools of a harness, by name. Replacing them replaces the whole registry. */
export class ToolRegistry {
  readonly #tools = new Map<string, AnyTool>();
  readonly #declarations = new Map<string, ToolDeclaration>();

  /** @throws TypeError if two tools share a name: a call could not be told to which it belongs. */
  constructor(tools: readonly AnyTool[]) {
    for (const tool of tools) {
      if (this.#tools.has(tool.name))
        throw new TypeError(`two tools are named ${tool.name}; a name is unique`);
      this.#tools.set(tool.name, tool);
      this.#declarations.set(tool.name, {
        replay: tool.replay ?? "never",
        executionMode: tool.executionMode ?? "parallel",
      });
    }
  }

  get(name: string): AnyTool | undefined {
    return this.#tools.get(name);
  }

  get names(): string[] {
    return [...this.#tools.keys()];
  }

  get all(): AnyTool[] {
    return [...this.#tools.values()];
  }

  /** What the planner knows of each tool. */
  get declarations(): ReadonlyMap<string, ToolDeclaration> {
    return this.#declarations;
  }
}

/** The settings of a harness at one revision; a value that is replaced, never changed. */
export interface Settings {
  readonly revision: number;
  readonly streamOptions: AgentHarnessStreamOptions;
  /** The policy as it was given, and as it is captured. */
  readonly retry: RetryPolicy;
  readonly retryPolicy: NormalizedRetryPolicy;
  /** What a run captures at its acceptance. */
  readonly run: RunSettings;
}

/** See the module header. */
export interface Environment {
  readonly session: Session;
  readonly models: Models;
  readonly clock: Clock;
  readonly lifecycle: Lifecycle;
  /** Follows every commit and tells of it; see `publisher.ts`. */
  readonly publisher: Publisher;
  readonly events: EventBus;
  /** Where the spans of this harness begin. */
  readonly telemetry: TelemetryContext;
  tools: ToolRegistry;
  settings: Settings;
  resources: Resources;
  /** Configuration of lanes that this harness creates. */
  readonly seed: LaneConfiguration;
  readonly entryProjectors: EntryProjectors;
  readonly hooks: HookRegistry;
  readonly toProviderMessages: (messages: AgentMessage[]) => Message[] | Promise<Message[]>;
  /** Evaluated once per tool batch. */
  readonly resolveToolContext: () => Promise<unknown>;
  /** Evaluated once per request; undefined: no system prompt. */
  readonly resolveSystemPrompt: () => Promise<string | undefined>;
}
