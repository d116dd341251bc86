/**
 * Error messages that mean "the same request may succeed later".
 *
 * Asked only for an `error` response with a message, and only after overflow was ruled out: a request that is too
 * large would fail again unchanged (spec §3.7). Limits of an account come first, because their messages often also
 * carry a retryable status. Implements message-types §14; matching is case-insensitive.
 */

/** Whether the message of an `error` response names a passing failure. */
export function isRetryableMessage(errorMessage: string): boolean {
  return errorMessage !== "" && !NEVER.test(errorMessage) && RETRYABLE.test(errorMessage);
}

/** `·` stands for at most one character: `rate limit`, `rate-limit` and `ratelimit` are one phrase. */
function anyOf(phrases: readonly string[]): RegExp {
  return new RegExp(phrases.map((phrase) => phrase.replaceAll("·", ".?")).join("|"), "i");
}

const NEVER = anyOf([
  "GoUsageLimitError",
  "FreeUsageLimitError",
  "monthly usage limit reached",
  "available balance",
  "insufficient_quota",
  "out of budget",
  "quota exceeded",
  "billing",
]);

const RETRYABLE = anyOf([
  "overloaded",
  "rate·limit",
  "too many requests",
  "429",
  "500",
  "502",
  "503",
  "504",
  "524",
  "service·unavailable",
  "server·error",
  "internal·error",
  "provider·returned·error",
  "exceeded request buffer limit while retrying upstream",
  "network·error",
  "connection·error",
  "connection·refused",
  "connection·lost",
  "other side closed",
  "fetch failed",
  "getaddrinfo",
  "ENOTFOUND",
  "EAI_AGAIN",
  "upstream·connect",
  "reset before headers",
  "socket hang up",
  "socket connection was closed",
  "time out",
  "timed out",
  "timeout",
  "terminated",
  "websocket·closed",
  "websocket·error",
  "ended without",
  "stream ended before message_stop",
  "stream ended before a terminal response event",
  "http2 request did not get a response",
  "retry delay",
  "you can retry your request",
  "try your request again",
  "please retry your request",
  "ResourceExhausted",
]);
