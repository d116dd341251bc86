/**
 * What a drive holds in memory beside the durable state (spec §4.1). All of it can be lost: a restarted drive begins
 * with nothing running and reads the rest again.
 */
import {
  type AgentMessage,
  type DurableStructuralPreparation,
  isInContext,
  type LaneLastResult,
  type SettledAssistantMessage,
  type Write,
} from "../model/index.ts";
import type { EffectKey, StructuralHookDecision } from "../operation/index.ts";
import type { EffectOutput } from "./effects.ts";
import type { ToolRegistry } from "./environment.ts";
import type { HookSite } from "./hook-pipeline.ts";
import type { HookName } from "./hooks.ts";
import type { CallEvents } from "./step-events.ts";
import { NO_TELEMETRY, type TelemetryContext, type TelemetrySpan } from "./telemetry.ts";

/** The open spans of a drive. */
export interface DriveSpans {
  operation: TelemetryContext;
  turn: { readonly turnId: string; readonly span: TelemetrySpan } | undefined;
  step: TelemetrySpan | undefined;
}

/** Where a span begins that is of no other: in the turn, or in the operation. */
export function innermost({ spans }: Pick<DriveState, "spans">): TelemetryContext {
  return spans.turn?.span ?? spans.operation;
}

/** Where hooks and listeners are called: in the request that is under way, else as everything. */
export function spanNow(live: Pick<DriveState, "spans">): TelemetryContext {
  return live.spans.step ?? innermost(live);
}

/** Follows the turn in which a state stands, by its id. */
export function followTurn({ spans }: DriveState, turnId: string | undefined): void {
  // The turn of a poll has an id of its own; the tools that it brings stay in it.
  if (turnId !== undefined && spans.turn !== undefined) return;
  spans.turn?.span.end();
  spans.turn = undefined;
  if (turnId === undefined) return;
  const span = spans.operation.start("pi.harness.turn", { "pi.harness.turn_id": turnId });
  spans.turn = { turnId, span };
}

/** Lets the handlers of a hook go, or answers `notStarted` if a cancellation came first. */
export type HookPass = <T>(name: HookName, runId: string, run: () => Promise<T>, notStarted: T) => Promise<T>;

/** A batch, with the tools as they were registered when this process came to it (spec §5.7). */
export interface BoundBatch {
  readonly assistantEntryId: string;
  readonly tools: ToolRegistry;
  /** The application's tool context, resolved once, for the first call that is executed. */
  context: Promise<unknown> | undefined;
}

/** See the module header. */
export interface DriveState {
  /** The operation's signal, given to every provider request and tool. */
  readonly controller: AbortController;
  /** Effects of this process whose outputs are not settled. */
  readonly running: Map<EffectKey, Promise<EffectOutput>>;
  /** What the batch of this response is bound to in this process. */
  toolBatch: BoundBatch | undefined;
  deferredPollsRemaining: 0 | 1;
  /** The span of this drive; that of the turn that is open; that of the request under way. */
  readonly spans: DriveSpans;
  /** Where the hooks of this drive pass; a manual drive parks them. */
  passHook: HookPass;
  /** The reserved id of the response that `message_end` was told of last. */
  announced: string | undefined;
  /** Calls that were started in this process and are not settled, and what is told of them. */
  readonly toldCalls: Map<EffectKey, CallEvents>;
  /** Deferred sources whose cancellation was asked for; another process may ask again. */
  readonly deferredCancellations: Set<string>;
  /** The newest response of the operation, as stored. */
  latestAssistant: { readonly entryId: string; readonly message: SettledAssistantMessage } | undefined;
  /** How somebody else ended the operation, once the lane has noticed it; the drive is on its way out. */
  endedFromOutside: LaneLastResult | undefined;
  /** What this process knows of the structural work of the operation. Outlives the drive, see `newDriveState`. */
  structural: StructuralMemory | undefined;
  /** The projected context at a leaf; kept because between two requests it grows at its end only. */
  context: { leafId: string | null; readonly messages: AgentMessage[] } | undefined;
}

/** Structural work as far as this process has come with it (spec §3.9). Nothing of it is durable. */
export interface StructuralMemory {
  readonly taskId: string;
  readonly preparation: DurableStructuralPreparation;
  decision?: StructuralHookDecision;
  attempt?: { readonly attempt: number; readonly responses: SettledAssistantMessage[] };
}

/**
 * A drive that begins. `structural` is what the lane's drive before it knew: one that was suspended between two
 * requests of an attempt goes on with that attempt.
 */
export function newDriveState(
  deferredPollsRemaining: 0 | 1,
  structural?: StructuralMemory | undefined,
): DriveState {
  return {
    controller: new AbortController(),
    running: new Map(),
    toolBatch: undefined,
    deferredPollsRemaining,
    spans: { operation: NO_TELEMETRY, turn: undefined, step: undefined },
    passHook: (_name, _runId, run) => run(),
    announced: undefined,
    toldCalls: new Map(),
    deferredCancellations: new Set(),
    latestAssistant: undefined,
    endedFromOutside: undefined,
    structural,
    context: undefined,
  };
}

/** Where the hooks of an operation run. */
export function hookSite(
  { passHook, spans }: Pick<DriveState, "passHook" | "spans">,
  { lane, operationId: runId }: { readonly lane: string; readonly operationId: string },
): HookSite {
  return {
    lane,
    runId,
    telemetry: spanNow({ spans }),
    pass: (name, run, notStarted) => passHook(name, runId, run, notStarted),
  };
}

/** Takes over what a commit of this drive appended, so that the next step need not read it again. */
export function rememberWrites(live: DriveState, writes: readonly Write[]): void {
  for (const write of writes) {
    if (write.kind !== "entry") continue;
    const { entry } = write;
    if (entry.type !== "message") {
      live.context = undefined;
      continue;
    }
    const { message } = entry;
    if (message.role === "assistant") {
      live.latestAssistant = { entryId: entry.id, message: message as SettledAssistantMessage };
    }
    if (live.context === undefined) continue;
    if (live.context.leafId !== entry.parentId) {
      live.context = undefined;
      continue;
    }
    live.context.leafId = entry.id;
    if (isInContext(message)) live.context.messages.push(message);
  }
}
