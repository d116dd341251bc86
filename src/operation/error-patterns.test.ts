import { describe, expect, it } from "vitest";
import { isOverflowMessage } from "./overflow-patterns.ts";
import { isRetryableMessage } from "./retryable-patterns.ts";

describe("overflow messages", () => {
  it.each([
    "prompt is too long: 213462 tokens > 200000 maximum",
    "413 request_too_large",
    "Input is too long for requested model.",
    "Your input exceeds the context window of this model",
    "This model's prompt exceeds the model's maximum context length of 131,072 tokens",
    "request exceeds maximum context length (8192)",
    "The input token count (1,196,265) exceeds the maximum number of tokens allowed",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "Please reduce the length of the messages or completion",
    "This endpoint's maximum context length is 128,000 tokens.",
    "exceeds the maximum allowed input length of 4096 tokens",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "prompt token count of 9 exceeds the limit of 8",
    "the request exceeds the available context size, try increasing it",
    "tokens to keep from the initial prompt is greater than the context length",
    "invalid params, context window exceeds limit",
    "Your request exceeded model token limit: 262144",
    "Prompt contains 9 tokens; too large for model with 8 maximum context length",
    "prompt has 9 tokens, but the configured context size is 8 tokens",
    "model_context_window_exceeded",
    "prompt too long; exceeded max context length by 4 tokens",
    "Range of input length should be [1, 30720]",
    "context_length_exceeded",
    "context length exceeded",
    "too many tokens in the request",
    "token limit exceeded",
    "400 (no body)",
    "413 status code (no body)",
  ])("include %s", (text) => {
    expect(isOverflowMessage(text)).toBe(true);
    expect(isOverflowMessage(text.toUpperCase())).toBe(true);
  });

  it.each([
    "",
    "overloaded",
    "Throttling error: Too many tokens, please wait before trying again.",
    "Service unavailable: too many tokens",
    "rate limit: too many tokens per minute",
    "Too many requests, too many tokens",
    "the answer mentions 400 (no body) in the middle",
    "maximum context length is unknown",
  ])("exclude %s", (text) => {
    expect(isOverflowMessage(text)).toBe(false);
  });
});

describe("retryable messages", () => {
  it.each([
    "Overloaded",
    "rate limit reached",
    "rate-limited",
    "ratelimit",
    "HTTP 429",
    "status 503",
    "Service Unavailable",
    "internal_error",
    "network error",
    "connection refused",
    "fetch failed",
    "getaddrinfo ENOTFOUND api.example",
    "socket hang up",
    "request timed out",
    "terminated",
    "WebSocket closed",
    "the stream ended without a stop reason",
    "RESOURCEEXHAUSTED",
  ])("include %s", (text) => {
    expect(isRetryableMessage(text)).toBe(true);
  });

  it.each([
    "",
    "invalid api key",
    "429 insufficient_quota",
    "500: monthly usage limit reached",
    "Billing hard limit: rate limit",
    "ratexxlimit",
  ])("exclude %s", (text) => {
    expect(isRetryableMessage(text)).toBe(false);
  });
});
