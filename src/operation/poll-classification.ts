/**
 * What a settled poll of a deferred job means (spec §3.2). First match wins, cancellation first, as for a generation.
 *
 * Terms. *Source*: the response whose handle was polled. *Pending*: the job is not done; the provider gives its handle
 * back, and that response becomes the next source.
 *
 * 1. Two handles are the same when they are deeply equal. A pending answer with another handle is stored as an error
 *    that says so: whoever polled on would follow a job that nobody asked for.
 * 2. A poll never retries and never compacts: the request was accepted long ago, and the answer that is here is the
 *    answer. So every error ends the run, an overflow too, and `length` is always genuine.
 */
import { jsonEquals } from "../foundation/index.ts";
import type { Control, DeferredHandle, SettledAssistantMessage, ToolCallContent } from "../model/index.ts";
import { abortedForm, abortedWhileRunning, answered } from "./classification.ts";

/** What the answer to a poll leads to. */
export type PollClassification =
  | { readonly kind: "cancelled" }
  | { readonly kind: "pending" }
  | { readonly kind: "mismatch"; readonly handle: DeferredHandle }
  | { readonly kind: "failure" }
  | { readonly kind: "tools"; readonly calls: readonly ToolCallContent[] }
  | { readonly kind: "finish" };

/** The first row that matches. @throws Corruption `aborted_while_running`, as for a generation. */
export function classifyPoll(
  message: SettledAssistantMessage,
  control: Control,
  source: DeferredHandle,
): PollClassification {
  if (control.status === "cancel_requested") return { kind: "cancelled" };
  switch (message.stopReason) {
    case "deferred":
      if (message.deferred === undefined) return { kind: "failure" };
      return jsonEquals(message.deferred, source)
        ? { kind: "pending" }
        : { kind: "mismatch", handle: message.deferred };
    case "error":
      return { kind: "failure" };
    case "aborted":
      throw abortedWhileRunning("a poll");
    case "toolUse":
    case "stop":
    case "length":
      return answered(message);
  }
}

/** The answer as it is stored: a cancelled one is `aborted`, one with a foreign handle is `error`. */
export function normalizePoll(
  message: SettledAssistantMessage,
  classification: PollClassification,
  source: DeferredHandle,
): SettledAssistantMessage {
  switch (classification.kind) {
    case "cancelled":
      return abortedForm(message);
    case "mismatch": {
      const { id } = classification.handle;
      const found =
        id === source.id ? "a handle of that job that differs from it" : `the handle of job ${id}`;
      const errorMessage = `the poll of deferred job ${source.id} was answered with ${found}; the job is not followed further`;
      return { ...message, stopReason: "error", errorMessage };
    }
    case "pending":
    case "failure":
    case "tools":
    case "finish":
      return message;
  }
}
