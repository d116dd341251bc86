/**
 * Hooks: the points at which an application is asked while work goes on, and the registry of its handlers (spec §5.6).
 *
 * Handlers of one name run in the order of their registration, each seeing what the one before it has made. A hook is
 * awaited; what it returns becomes durable with the transaction that consumes it, so a crash before that runs it again.
 *
 * | Hook | Fresh | Retry | Resume |
 * |---|---|---|---|
 * | `before_run` | once, before acceptance | no | no: its output is stored |
 * | `before_resume` | no | no | yes, before any effect; not of a cancelled operation, which begins none |
 * | `transform_context`, `before_request`, `before_payload` | per request | per request | per request |
 * | `after_response` | per response, unless a cancellation came first | the same | the same |
 * | `before_tool` | per call | no | not for a call that was started |
 * | `after_tool` | per executed result, unless a cancellation came first | no | after a replay |
 * | `before_compaction`, `before_navigation` | once, until their answer is durable | no | not once a summary is being made |
 * | `before_run_end` | at each normal end | no | at the end that is reached then |
 */
import type {
  AgentHarnessStreamOptions,
  AgentHarnessStreamOptionsPatch,
  AgentMessage,
  AgentToolResult,
  JsonObject,
  JsonValue,
  Model,
  SettledAssistantMessage,
  Usage,
} from "../model/index.ts";
import type { BranchSummaryResult, CompactResult, HookPreparation } from "./decision-hooks.ts";
import type { Resources } from "./resources.ts";

/** What a resumed operation was accepted with. */
export type BeforeResumePrepared =
  | { kind: "run"; prompt: AgentMessage[]; systemPromptOverride?: string }
  | { kind: "compaction"; sourceLeafId: string | null; customInstructions?: string }
  | {
      kind: "navigation";
      sourceLeafId: string | null;
      targetId: string | null;
      summarize: boolean;
      label?: string;
      customInstructions?: string;
    };

/** Which kind of request is made. */
export type RequestStep = "assistant" | "deferred" | "compaction" | "branch_summary";

/** Every hook: what its handlers get, and what they may return. */
export interface HookMap {
  before_run: {
    event: { prompt: AgentMessage[]; systemPrompt: string; resources: Resources };
    result: { messages?: AgentMessage[]; systemPrompt?: string; resumeData?: JsonValue } | undefined;
  };
  before_resume: { event: BeforeResumePrepared & { resumeData?: JsonValue }; result: undefined };
  before_run_end: { event: { messages: AgentMessage[] }; result: { followUp?: string } | undefined };
  transform_context: {
    event: { messages: AgentMessage[] };
    result: { messages: AgentMessage[] } | undefined;
  };
  before_request: {
    event: { model: Model; step: RequestStep; attempt: number; streamOptions: AgentHarnessStreamOptions };
    result: { streamOptions?: AgentHarnessStreamOptionsPatch } | undefined;
  };
  before_payload: { event: { model: Model; payload: unknown }; result: { payload: unknown } | undefined };
  after_response: {
    event: { status?: number; headers?: Record<string, string>; message: SettledAssistantMessage };
    result: { message?: SettledAssistantMessage } | undefined;
  };
  before_tool: {
    event: { toolCallId: string; toolName: string; args: JsonObject };
    result: { args?: JsonObject; block?: { reason: string; terminate?: boolean } } | undefined;
  };
  after_tool: {
    event: {
      toolCallId: string;
      toolName: string;
      args: JsonObject;
      content: NonNullable<AgentToolResult["content"]>;
      details?: JsonValue;
      isError: boolean;
      usage?: Usage;
    };
    result:
      | {
          content?: NonNullable<AgentToolResult["content"]>;
          details?: JsonValue;
          isError?: boolean;
          usage?: Usage;
          terminate?: boolean;
        }
      | undefined;
  };
  before_compaction: {
    event: {
      reason: "manual" | "threshold" | "overflow";
      preparation: HookPreparation<"compaction">;
      customInstructions?: string;
    };
    result: { decline?: boolean; compaction?: CompactResult } | undefined;
  };
  before_navigation: {
    event: { targetId: string; preparation: HookPreparation<"branch_summary">; customInstructions?: string };
    result: { decline?: boolean; summary?: BranchSummaryResult } | undefined;
  };
}

export type HookName = keyof HookMap;

/** What a handler is called with; `runId` is the durable id of the operation, before acceptance the one it will have. */
export type HookInvocation<Name extends HookName> = HookMap[Name]["event"] & { lane: string; runId: string };

/** A handler; returning nothing leaves everything as it is. */
export type HookHandler<Name extends HookName> = (
  event: HookInvocation<Name>,
) =>
  | HookMap[Name]["result"]
  | undefined
  | Promise<HookMap[Name]["result"] | undefined>
  | Promise<void>
  | void;

export interface Hooks {
  /**
   * Adds a handler. `before_run` and `before_resume` need an `id` that is theirs alone and the same after a restart: what
   * the first stores is given to the second under it. Returns the way to take the handler back.
   * @throws TypeError for an id that is missing or taken
   */
  on<Name extends HookName>(name: Name, handler: HookHandler<Name>, options?: { id?: string }): () => void;
}

/** A handler as it is registered. */
export interface RegisteredHook<Name extends HookName> {
  readonly id: string | undefined;
  readonly handler: HookHandler<Name>;
}

/** The handlers of a harness. */
export class HookRegistry implements Hooks {
  readonly #handlers = new Map<HookName, RegisteredHook<never>[]>();

  on<Name extends HookName>(
    name: Name,
    handler: HookHandler<Name>,
    options: { id?: string } = {},
  ): () => void {
    const handlers = this.#handlers.get(name) ?? [];
    const { id } = options;
    if (NEEDS_ID.has(name) && (id === undefined || id === "")) {
      throw new TypeError(`a handler of ${name} needs an id that is the same after a restart`);
    }
    if (id !== undefined && handlers.some((known) => known.id === id)) {
      throw new TypeError(`a handler of ${name} has the id ${id} already`);
    }
    const registered: RegisteredHook<Name> = { id, handler };
    this.#handlers.set(name, [...handlers, registered as unknown as RegisteredHook<never>]);
    return () => {
      const now = this.#handlers.get(name) ?? [];
      this.#handlers.set(
        name,
        now.filter((known) => known !== (registered as unknown)),
      );
    };
  }

  /** The handlers of a name now. */
  of<Name extends HookName>(name: Name): readonly RegisteredHook<Name>[] {
    return (this.#handlers.get(name) ?? []) as unknown as readonly RegisteredHook<Name>[];
  }

  has(name: HookName): boolean {
    return (this.#handlers.get(name)?.length ?? 0) > 0;
  }
}

const NEEDS_ID: ReadonlySet<HookName> = new Set(["before_run", "before_resume"]);
