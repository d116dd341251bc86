/**
 * Error messages that mean "the request did not fit into the context window".
 *
 * A heuristic, and named so wherever it is used (spec §3.7): providers report a full context as an ordinary error,
 * each in its own words. Exclusions come first, because throttling errors speak of tokens too.
 * Implements message-types §15; matching is case-insensitive, and a number may carry commas.
 */

/** Whether the message of an `error` response says that the context did not fit. */
export function isOverflowMessage(errorMessage: string): boolean {
  const text = errorMessage.trim();
  if (EXCLUDED.some((pattern) => pattern.test(text))) return false;
  return OVERFLOW.some((pattern) => pattern.test(text));
}

const EXCLUDED: readonly RegExp[] = [
  /^throttling error:/i,
  /^service unavailable:/i,
  /rate limit/i,
  /too many requests/i,
];

/** `#` in a phrase stands for a number, a space for any white space; everything else is literal. */
function phrase(words: string, flags = "i"): RegExp {
  const source = words
    .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll("#", "\\d[\\d,]*")
    .replaceAll(" ", "\\s+");
  return new RegExp(source, flags);
}

const NUMBER = "\\d[\\d,]*";

const OVERFLOW: readonly RegExp[] = [
  phrase("prompt is too long"),
  phrase("request_too_large"),
  phrase("input is too long for requested model"),
  phrase("exceeds the context window"),
  new RegExp(
    `exceeds\\s+(?:the\\s+)?(?:model'?s\\s+)?maximum\\s+context\\s+length\\s*(?:of\\s+${NUMBER}\\s+tokens|\\(${NUMBER}\\))`,
    "i",
  ),
  /input token count.*exceeds the maximum/is,
  phrase("maximum prompt length is #"),
  phrase("reduce the length of the messages"),
  phrase("maximum context length is # tokens"),
  new RegExp(
    `exceeds\\s+(?:the\\s+)?maximum\\s+allowed\\s+input\\s+length\\s+of\\s+${NUMBER}\\s+tokens`,
    "i",
  ),
  phrase("input (# tokens) is longer than the model's context length (# tokens)"),
  phrase("exceeds the limit of #"),
  phrase("exceeds the available context size"),
  phrase("greater than the context length"),
  phrase("context window exceeds limit"),
  phrase("exceeded model token limit"),
  new RegExp(`too\\s+large\\s+for\\s+model\\s+with\\s+${NUMBER}\\s+maximum\\s+context\\s+length`, "i"),
  phrase("prompt has # tokens, but the configured context size is # tokens"),
  phrase("model_context_window_exceeded"),
  /prompt too long; exceeded (?:max )?context length/i,
  phrase("range of input length should be"),
  /context[_ ]length[_ ]exceeded/i,
  phrase("too many tokens"),
  phrase("token limit exceeded"),
  /^4(?:00|13)(?:\s+status\s+code)?\s*\(no body\)/i,
];
