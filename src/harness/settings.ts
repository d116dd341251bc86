/**
 * The settings of a harness and its registries, and how they change (spec §4.3, §5.2).
 *
 * Settings and registries are process-local values that are replaced whole; every replacement raises the revision. A step
 * that snapshots them commits only if the revision is the one that it read. A setter is one step that nothing can come
 * between, so it needs no queue of its own: it comes before the check of that revision, or after it.
 *
 * Whatever is set is detached and checked first. A wrong value rejects, and nothing has changed.
 */
import { admitJson } from "../foundation/index.ts";
import {
  type AgentHarnessStreamOptions,
  AgentHarnessStreamOptionsSchema,
  type CompactionSettings,
  CompactionSettingsSchema,
  DEFAULT_COMPACTION_SETTINGS,
  DEFAULT_QUEUE_MODE,
  DEFAULT_RETRY_POLICY,
  DEFAULT_TOOL_EXECUTION_MODE,
  issueOf,
  normalizeRetryPolicy,
  type QueueMode,
  QueueModeSchema,
  type RetryPolicy,
  RetryPolicySchema,
  type ToolExecutionMode,
  ToolExecutionModeSchema,
} from "../model/index.ts";
import { type AnyTool, type Environment, type Settings, ToolRegistry } from "./environment.ts";
import type { SettingName } from "./event-types.ts";
import type { Resources } from "./resources.ts";
import { withoutUndefined } from "./stream-options.ts";

/** The settings that an application gives at creation. */
export interface SettingsOptions {
  streamOptions?: AgentHarnessStreamOptions;
  retry?: RetryPolicy;
  compaction?: CompactionSettings;
  steeringMode?: QueueMode;
  followUpMode?: QueueMode;
  toolExecution?: ToolExecutionMode;
}

/** The first revision. @throws TypeError that names the option; NotJson for a value that JSON cannot carry. */
export function firstSettings(options: SettingsOptions): Settings {
  const retry = checked("retry", RetryPolicySchema, options.retry ?? DEFAULT_RETRY_POLICY);
  const { steeringMode, followUpMode, toolExecution } = options;
  return {
    revision: 0,
    streamOptions: checkedStreamOptions(options.streamOptions ?? {}),
    retry,
    retryPolicy: admitJson(normalizeRetryPolicy(retry)),
    run: admitJson({
      compaction: checked(
        "compaction",
        CompactionSettingsSchema,
        options.compaction ?? DEFAULT_COMPACTION_SETTINGS,
      ),
      steeringMode: checked("steeringMode", QueueModeSchema, steeringMode ?? DEFAULT_QUEUE_MODE),
      followUpMode: checked("followUpMode", QueueModeSchema, followUpMode ?? DEFAULT_QUEUE_MODE),
      toolExecution: checked(
        "toolExecution",
        ToolExecutionModeSchema,
        toolExecution ?? DEFAULT_TOOL_EXECUTION_MODE,
      ),
    }),
  };
}

/** The setters of a harness; each is one replacement and one event. */
export class SettingsSetters {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  streamOptions(value: AgentHarnessStreamOptions): Promise<void> {
    return this.#change("streamOptions", () => ({
      streamOptions: checkedStreamOptions(value),
    }));
  }

  retryPolicy(value: RetryPolicy): Promise<void> {
    return this.#change("retryPolicy", () => {
      const retry = checked("retryPolicy", RetryPolicySchema, value);
      return { retry, retryPolicy: admitJson(normalizeRetryPolicy(retry)) };
    });
  }

  compactionSettings(value: CompactionSettings): Promise<void> {
    return this.#change("compactionSettings", ({ run }) => {
      const compaction = checked("compactionSettings", CompactionSettingsSchema, value);
      return { run: admitJson({ ...run, compaction }) };
    });
  }

  steeringMode(value: QueueMode): Promise<void> {
    return this.#change("steeringMode", ({ run }) => {
      return { run: admitJson({ ...run, steeringMode: checked("steeringMode", QueueModeSchema, value) }) };
    });
  }

  followUpMode(value: QueueMode): Promise<void> {
    return this.#change("followUpMode", ({ run }) => {
      return { run: admitJson({ ...run, followUpMode: checked("followUpMode", QueueModeSchema, value) }) };
    });
  }

  /** Replaces the whole registry. What lanes have active stays; a name that is gone is a missing identity. */
  tools(tools: readonly AnyTool[]): Promise<void> {
    return this.#change("tools", () => {
      this.#environment.tools = new ToolRegistry(tools);
      return {};
    });
  }

  resources(resources: Resources): Promise<void> {
    return this.#change("resources", () => {
      this.#environment.resources = structuredClone(resources);
      return {};
    });
  }

  async #change(property: SettingName, change: (before: Settings) => Partial<Settings>): Promise<void> {
    const environment = this.#environment;
    environment.lifecycle.admit();
    const before = environment.settings;
    environment.settings = { ...before, ...change(before), revision: before.revision + 1 };
    environment.events.emit({ type: "config_update", property });
  }
}

/** Stream options that are given whole; a member that is `undefined` is not given (see `stream-options.ts`). */
function checkedStreamOptions(value: AgentHarnessStreamOptions): AgentHarnessStreamOptions {
  return checked("streamOptions", AgentHarnessStreamOptionsSchema, withoutUndefined(value));
}

/** A setting, detached and frozen. @throws TypeError that names the place; NotJson for a value JSON cannot carry. */
export function checked<T>(name: string, schema: Parameters<typeof issueOf>[0], value: T): T {
  const detached = admitJson(value);
  // The defaults were right when they were written, and a harness is made for every life of a process.
  if (DEFAULTS.has(value)) return detached;
  const issue = issueOf(schema, detached);
  if (issue === undefined) return detached;
  throw new TypeError(`option ${name}${issue.path}: expected ${issue.expected}, found ${issue.found}`);
}

const DEFAULTS: ReadonlySet<unknown> = new Set([
  DEFAULT_RETRY_POLICY,
  DEFAULT_COMPACTION_SETTINGS,
  DEFAULT_QUEUE_MODE,
  DEFAULT_TOOL_EXECUTION_MODE,
]);
