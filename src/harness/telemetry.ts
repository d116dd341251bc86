/**
 * Telemetry: spans that say what was done, never what was said (spec §5.8).
 *
 * A context is handed on explicitly; there is no active span anywhere. A span is the context of what happens in it. The
 * attributes of every span are declared here, one interface a name: ids, names, counts, states and usage. There is no place
 * for a prompt, an answer, arguments, a result, a payload, a header, a handle or a credential.
 *
 * | Span | Within | Says |
 * |---|---|---|
 * | `pi.harness.run`, `.compaction`, `.navigation` | the context of the harness | one drive of an operation |
 * | `pi.harness.turn` | the operation | from the start of a generation or poll to the last result of its calls |
 * | `pi.harness.checkpoint` | the operation | one commit at a checkpoint |
 * | `pi.harness.step` | the turn, or the operation | one request with what is around it |
 * | `pi.ai.request` | the step, or the operation | one request, poll or cancellation that a provider was asked |
 * | `pi.harness.tool` | the turn | one execution of a tool; none where nothing is executed |
 * | `pi.harness.hook` | the operation | one handler |
 * | `pi.harness.sleep` | the operation | one wait |
 * | `pi.harness.event_handler` | the context of the harness | one call of a listener |
 * | `pi.session.write` | where it is committed | one transaction; none where nothing was written |
 *
 * What a context does wrong is its own: it can neither fail an operation nor hold it up.
 */
import type { AssistantMessage, CommitResult, ModelIdentity, Usage, Write } from "../model/index.ts";

/** The attributes of each span, those of its start and those of its end together. */
export interface SpanAttributes {
  "pi.harness.run": OperationSpan;
  "pi.harness.compaction": OperationSpan;
  "pi.harness.navigation": OperationSpan;
  "pi.harness.turn": { "pi.harness.turn_id": string };
  "pi.harness.checkpoint": { "pi.harness.operation_id": string };
  "pi.harness.step": {
    "pi.harness.step_id": string;
    "pi.harness.step_kind": string;
    "pi.harness.attempt": number;
  };
  "pi.ai.request": {
    "pi.ai.provider": string;
    "pi.ai.model": string;
    "pi.ai.kind": "stream" | "fetch" | "cancel";
    "pi.ai.stop_reason"?: string;
    "pi.ai.input_tokens"?: number;
    "pi.ai.output_tokens"?: number;
    "pi.ai.cost_usd"?: number;
  };
  "pi.harness.tool": {
    "pi.harness.tool_name": string;
    "pi.harness.tool_call_id": string;
    "pi.harness.is_replay": boolean;
    "pi.harness.is_error"?: boolean;
  };
  "pi.harness.hook": { "pi.harness.hook_name": string; "pi.harness.is_error"?: boolean };
  "pi.harness.sleep": { "pi.harness.delay_ms": number };
  "pi.harness.event_handler": { "pi.harness.event_type": string; "pi.harness.is_error"?: boolean };
  "pi.session.write": {
    "pi.session.item_count": number;
    /** Kinds in the order of their first appearance, separated by commas. */
    "pi.session.item_kinds": string;
    "pi.session.first_seq"?: number;
    "pi.session.last_seq"?: number;
  };
}

interface OperationSpan {
  "pi.harness.lane": string;
  "pi.harness.operation_id": string;
  "pi.harness.is_resumed": boolean;
  "pi.harness.outcome"?: string;
}

export type SpanName = keyof SpanAttributes;

/** Where spans begin. */
export interface TelemetryContext {
  start<Name extends SpanName>(name: Name, attributes: SpanAttributes[Name]): TelemetrySpan;
}

/** A span that is open; also the context of what happens in it. */
export interface TelemetrySpan extends TelemetryContext {
  /** Ends the span, once, with what became known. */
  end(attributes?: Partial<SpanAttributes[SpanName]>): void;
}

/** Nobody looks. */
export const NO_TELEMETRY: TelemetryContext = Object.freeze({ start: () => NO_SPAN });
const NO_SPAN: TelemetrySpan = Object.freeze({ start: () => NO_SPAN, end: () => undefined });

/** The same context, but that its failures are nobody's. */
export function guardedTelemetry(context: TelemetryContext): TelemetryContext {
  return context === NO_TELEMETRY
    ? context
    : { start: (name, attributes) => guardedStart(context, name, attributes) };
}

function guardedStart<Name extends SpanName>(
  context: TelemetryContext,
  name: Name,
  attributes: SpanAttributes[Name],
): TelemetrySpan {
  let span: TelemetrySpan;
  try {
    span = context.start(name, attributes);
  } catch {
    return NO_SPAN;
  }
  let isOpen = true;
  return {
    start: (child, of) => guardedStart(span, child, of),
    end: (known) => {
      if (!isOpen) return;
      isOpen = false;
      try {
        span.end(known);
      } catch {
        // See the module header.
      }
    },
  };
}

/** Work within a span; `known` says what became known of it. */
export async function inSpan<T>(
  span: TelemetrySpan,
  work: (span: TelemetrySpan) => Promise<T>,
  known: (result: T) => Partial<SpanAttributes[SpanName]> = () => ({}),
): Promise<T> {
  try {
    const result = await work(span);
    span.end(known(result));
    return result;
  } catch (error) {
    span.end();
    throw error;
  }
}

/** A commit within its span. */
export function inWriteSpan(
  within: TelemetryContext,
  writes: readonly Write[],
  commit: () => Promise<CommitResult>,
): Promise<CommitResult> {
  const kinds = [...new Set(writes.map(({ kind }) => kind))].join(",");
  const span = within.start("pi.session.write", {
    "pi.session.item_count": writes.length,
    "pi.session.item_kinds": kinds,
  });
  return inSpan(span, commit, ({ firstSeq, seqs }) => ({
    "pi.session.first_seq": firstSeq,
    "pi.session.last_seq": seqs.at(-1) ?? firstSeq,
  }));
}

/** A request within its span; `undefined` where nothing came back. */
export function inRequestSpan(
  within: TelemetryContext,
  model: ModelIdentity,
  kind: SpanAttributes["pi.ai.request"]["pi.ai.kind"],
  send: (span: TelemetrySpan) => Promise<AssistantMessage | undefined>,
): Promise<AssistantMessage | undefined> {
  const span = within.start("pi.ai.request", {
    "pi.ai.provider": model.provider,
    "pi.ai.model": model.modelId,
    "pi.ai.kind": kind,
  });
  return inSpan(span, send, (message) => {
    const usage = validNumbers(message?.usage);
    return typeof message?.stopReason === "string"
      ? { ...usage, "pi.ai.stop_reason": message.stopReason }
      : usage;
  });
}

/** Of what a provider reports, numbers alone: it is not checked yet. */
function validNumbers(usage: Partial<Usage> | undefined): Partial<SpanAttributes["pi.ai.request"]> {
  const { input, output, cost } = usage ?? {};
  return {
    ...(typeof input === "number" ? { "pi.ai.input_tokens": input } : {}),
    ...(typeof output === "number" ? { "pi.ai.output_tokens": output } : {}),
    ...(typeof cost?.total === "number" ? { "pi.ai.cost_usd": cost.total } : {}),
  };
}
