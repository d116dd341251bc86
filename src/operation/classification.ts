/**
 * Classification: what a settled response means for the run (spec §3.7). One pure function, six rows, first match
 * wins; computed before the settlement transaction, and durable only through it.
 *
 * Terms. *Overflow*: the request did not fit into the context window. *Genuine length*: the model reached its own
 * output limit; such a response stays in the context.
 *
 * Invariants.
 * 1. Cancellation is tested first: after a durable cancellation every response is stored as `aborted`.
 * 2. Overflow is tested before retryable errors, so that a request that is too large is compacted, not repeated.
 * 3. An overflow never becomes a tool plan.
 * 4. `aborted` is no input of classification. It means that the harness's own signal fired, and the cancellation is
 *    durable before the signal fires; so `aborted` under running control is a state that cannot be (invariant 19).
 *
 * Overflow detection is a heuristic. Its three sources, by reliability: an adapter that reports it as an `error`
 * with a matching message; a provider's own error message; `length` with less output than the request's limit. The
 * last is for the harness alone, because an adapter cannot tell it from a response that was cut while thinking. That
 * a `stop` used more input than the context window holds is the adapter's to report, because it would throw away
 * answers of substance here.
 */
import { Corruption } from "../foundation/index.ts";
import type {
  Control,
  DeferredHandle,
  Generation,
  SettledAssistantMessage,
  ToolCallContent,
} from "../model/index.ts";
import { isOverflowMessage } from "./overflow-patterns.ts";
import { isRetryableMessage } from "./retryable-patterns.ts";

/** What a response leads to. */
export type Classification =
  | { readonly kind: "cancelled" }
  | { readonly kind: "overflow"; readonly isFirst: boolean }
  | { readonly kind: "deferred"; readonly handle: DeferredHandle }
  | { readonly kind: "retry" }
  | { readonly kind: "failure" }
  | { readonly kind: "tools"; readonly calls: readonly ToolCallContent[] }
  | { readonly kind: "finish" };

/** The part of the pending generation that classification reads. */
export type ClassifiedAttempt = Pick<
  Extract<Generation, { status: "effect_pending" }>,
  "context" | "attempt" | "intendedOutputLimit"
>;

/** The first row that matches. @throws Corruption `aborted_while_running`, see invariant 4. */
export function classify(
  message: SettledAssistantMessage,
  control: Control,
  generation: ClassifiedAttempt,
): Classification {
  if (control.status === "cancel_requested") return { kind: "cancelled" };
  if (isOverflow(message, generation.intendedOutputLimit)) {
    return { kind: "overflow", isFirst: !generation.context.overflowRecoveryUsed };
  }
  switch (message.stopReason) {
    case "deferred":
      if (message.deferred) return { kind: "deferred", handle: message.deferred };
      return { kind: "failure" };
    case "error":
      return { kind: isRetryAllowed(message, generation) ? "retry" : "failure" };
    case "aborted":
      throw abortedWhileRunning("a response");
    case "toolUse":
    case "stop":
    case "length":
      return answered(message);
  }
}

/** What an answer leads to that is none of the rows before: its calls, or the end. */
export function answered(
  message: SettledAssistantMessage,
): Extract<Classification, { kind: "tools" | "finish" }> {
  const calls = toolCallsOf(message);
  return calls.length > 0 ? { kind: "tools", calls } : { kind: "finish" };
}

/** See invariant 4. */
export function abortedWhileRunning(what: string): Corruption {
  const message = `${what} is aborted, but no cancellation is durable; a provider reports aborted only for the harness's signal`;
  return new Corruption("aborted_while_running", message);
}

/**
 * The message as it is stored. Two normalizations, both on purpose: a cancelled response is `aborted`, an overflow is
 * `error`. The reason stays readable in `errorMessage`.
 */
export function normalizeForStorage(
  message: SettledAssistantMessage,
  classification: Classification,
  intendedOutputLimit: number,
): SettledAssistantMessage {
  if (classification.kind === "cancelled") return abortedForm(message);
  if (classification.kind === "overflow" && message.stopReason !== "error") {
    const errorMessage =
      `context window exceeded: the provider answered ${message.stopReason} after ${message.usage.output} output tokens, ` +
      `short of the ${intendedOutputLimit} that were intended`;
    return { ...message, stopReason: "error", errorMessage };
  }
  return message;
}

/** A response that came after the cancellation. */
export function abortedForm(message: SettledAssistantMessage): SettledAssistantMessage {
  if (message.stopReason === "aborted") return message;
  const before = message.errorMessage ? `: ${message.errorMessage}` : "";
  const errorMessage = `cancelled by the caller; the provider had answered ${message.stopReason}${before}`;
  return { ...message, stopReason: "aborted", errorMessage };
}

/** The tool calls of a message, in source order; positions among them are not the source indexes. */
export function toolCallsOf(message: SettledAssistantMessage): ToolCallContent[] {
  return message.content.filter((block): block is ToolCallContent => block.type === "toolCall");
}

function isOverflow(message: SettledAssistantMessage, intendedOutputLimit: number): boolean {
  if (message.stopReason === "error") return isOverflowMessage(message.errorMessage ?? "");
  return message.stopReason === "length" && message.usage.output < intendedOutputLimit;
}

function isRetryAllowed(message: SettledAssistantMessage, { context, attempt }: ClassifiedAttempt): boolean {
  return attempt < context.retryPolicy.maxAttempts && isRetryableMessage(message.errorMessage ?? "");
}
