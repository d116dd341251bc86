/**
 * Tools, as a caller hands them to a harness. These are live objects with functions; nothing here is stored.
 * What is stored of a tool is its declared `replay` policy, inside the operation state (spec §3.8).
 */
import type { Static, TSchema } from "typebox";
import type { ImageContent, TextContent } from "./message.ts";
import type { ToolExecutionMode } from "./settings.ts";
import type { Usage } from "./usage.ts";

/** Whether a call whose outcome is unknown may be executed again with the stored arguments. */
export type ToolReplay = "never" | "safe";

/** A tool as a provider sees it. */
export interface Tool<Parameters extends TSchema = TSchema> {
  name: string;
  description: string;
  parameters: Parameters;
  constrainedSampling?: unknown;
}

/** What an execution returns. */
export interface AgentToolResult<Details = unknown> {
  /** Missing counts as `[]`. */
  content?: (TextContent | ImageContent)[];
  details: Details;
  /** The tool's own cost, which gets its own ledger row. */
  usage?: Usage;
  addedToolNames?: string[];
  /** Asks for the run to end; honoured when every call of the batch asks for it. */
  terminate?: boolean;
}

/** Reports progress; ignored after the execution has settled. */
export type AgentToolUpdate<Details = unknown> = (partial: AgentToolResult<Details>) => void;

interface AgentToolDeclaration<Parameters extends TSchema> extends Tool<Parameters> {
  /** What a user interface calls it. */
  label: string;
  /** A pure shim over the provider's raw arguments, before they are validated. */
  prepareArguments?(raw: unknown): unknown;
  /** One sequential tool makes its whole batch sequential. */
  executionMode?: ToolExecutionMode;
  /** Absent means `never`. */
  replay?: ToolReplay;
}

/** A tool that can be executed; it throws on failure. */
export interface AgentTool<Parameters extends TSchema = TSchema, Details = unknown>
  extends AgentToolDeclaration<Parameters> {
  execute(
    toolCallId: string,
    params: Static<Parameters>,
    signal?: AbortSignal,
    onUpdate?: AgentToolUpdate<Details>,
  ): Promise<AgentToolResult<Details>>;
}

/** A tool that also gets the application's context, resolved once per batch (spec §4.1). */
export interface AgentHarnessTool<
  Context = undefined,
  Parameters extends TSchema = TSchema,
  Details = unknown,
> extends AgentToolDeclaration<Parameters> {
  execute(
    toolCallId: string,
    params: Static<Parameters>,
    signal: AbortSignal | undefined,
    onUpdate: AgentToolUpdate<Details> | undefined,
    context: Context,
  ): Promise<AgentToolResult<Details>>;
}
