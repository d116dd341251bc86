/**
 * What a provider's error text means: worth a retry, or a context that did not fit (spec §3.7, §0.7).
 *
 * A second reading of the two lists, on purpose: the state machine under test has its own, and a text that only one
 * of them knows shows up as a transaction without a row.
 */

/** Whether an `error` message is worth another attempt. Overflow is not: it is asked first. */
export function isRetryableMessage(text: string | undefined): boolean {
  if (text === undefined || text === "" || isOverflowMessage(text)) return false;
  return !NEVER.test(text) && RETRYABLE.test(text);
}

/** Whether an `error` message says that the context did not fit. */
export function isOverflowMessage(text: string | undefined): boolean {
  return text !== undefined && !NOT_OVERFLOW.test(text) && OVERFLOW.test(text);
}

const NEVER = anyOf(
  "GoUsageLimitError",
  "FreeUsageLimitError",
  "monthly usage limit reached",
  "available balance",
  "insufficient_quota",
  "out of budget",
  "quota exceeded",
  "billing",
);

const RETRYABLE = anyOf(
  "overloaded",
  "rate.?limit",
  "too many requests",
  "429",
  "500",
  "502",
  "503",
  "504",
  "524",
  "service.?unavailable",
  "server.?error",
  "internal.?error",
  "provider.?returned.?error",
  "exceeded request buffer limit while retrying upstream",
  "network.?error",
  "connection.?(?:error|refused|lost)",
  "other side closed",
  "fetch failed",
  "getaddrinfo",
  "ENOTFOUND",
  "EAI_AGAIN",
  "upstream.?connect",
  "reset before headers",
  "socket hang up",
  "socket connection was closed",
  "time out",
  "timed out",
  "timeout",
  "terminated",
  "websocket.?(?:closed|error)",
  "ended without",
  "stream ended before message_stop",
  "stream ended before a terminal response event",
  "http2 request did not get a response",
  "retry delay",
  "you can retry your request",
  "try your request again",
  "please retry your request",
  "ResourceExhausted",
);

const NOT_OVERFLOW = anyOf("^Throttling error:", "^Service unavailable:", "rate limit", "too many requests");

const NUMBER = "[\\d,]+";
const OVERFLOW = anyOf(
  "prompt is too long",
  "request_too_large",
  "input is too long for requested model",
  "exceeds the context window",
  `exceeds (?:the )?(?:model's )?maximum context length (?:of ${NUMBER} tokens|\\(${NUMBER}\\))`,
  "input token count.*exceeds the maximum",
  `maximum prompt length is ${NUMBER}`,
  "reduce the length of the messages",
  `maximum context length is ${NUMBER} tokens`,
  `exceeds (?:the )?maximum allowed input length of ${NUMBER} tokens`,
  `input \\(${NUMBER} tokens\\) is longer than the model's context length \\(${NUMBER} tokens\\)`,
  `exceeds the limit of ${NUMBER}`,
  "exceeds the available context size",
  "greater than the context length",
  "context window exceeds limit",
  "exceeded model token limit",
  `too large for model with ${NUMBER} maximum context length`,
  `prompt has ${NUMBER} tokens, but the configured context size is ${NUMBER} tokens`,
  "model_context_window_exceeded",
  "prompt too long; exceeded (?:max )?context length",
  "range of input length should be",
  "context[_ ]length[_ ]exceeded",
  "too many tokens",
  "token limit exceeded",
  "^4(?:00|13)(?: status code)? ?\\(no body\\)",
);

function anyOf(...sources: readonly string[]): RegExp {
  return new RegExp(sources.join("|"), "i");
}
