/**
 * Whether a message stands in a context (spec §2.5), as the judges read it: they do not ask the runtime, whose reading is
 * what they judge.
 */
export function isInContext(message: { readonly role: string; readonly stopReason?: string }): boolean {
  return message.role !== "assistant" || !WITHOUT_ANSWER.includes(message.stopReason ?? "");
}

/** Reasons of responses that answer nothing. */
const WITHOUT_ANSWER: readonly string[] = ["error", "aborted", "deferred"];
