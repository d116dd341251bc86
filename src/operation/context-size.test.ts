import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../model/index.ts";
import { estimateContextTokens, estimateTokens, shouldCompact } from "./context-size.ts";
import { asks, assistant, USAGE } from "./testing/states.ts";

const user = (characters: number, timestamp = 1): AgentMessage => ({
  role: "user",
  content: "x".repeat(characters),
  timestamp,
});
const reply = (totalTokens: number, timestamp: number) =>
  assistant("stop", { usage: { ...USAGE, totalTokens }, timestamp });

describe("the size of a context", () => {
  it.each([
    ["a quarter token per character, rounded up", user(9), 3],
    [
      "an image like 4800 characters",
      {
        role: "user",
        content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
        timestamp: 1,
      },
      1200,
    ],
    ["a call by its name and arguments", asks("read"), Math.ceil("read{}".length / 4)],
    [
      "a command with its output",
      {
        role: "bashExecution",
        command: "ls",
        output: "ab",
        cancelled: false,
        truncated: false,
        timestamp: 1,
      },
      1,
    ],
  ] as [string, AgentMessage, number][])("counts %s", (_name, message, tokens) => {
    expect(estimateTokens(message)).toBe(tokens);
  });

  it("starts from the newest reported usage and adds what follows", () => {
    expect(estimateContextTokens([user(400), reply(1000, 2), user(40, 3)])).toBe(1010);
  });

  it("does not believe a usage that is older than a message before it", () => {
    const summary: AgentMessage = {
      role: "compactionSummary",
      summary: "x".repeat(40),
      tokensBefore: 9,
      timestamp: 9,
    };
    expect(estimateContextTokens([summary, reply(150_000, 2)])).toBe(10 + estimateTokens(reply(0, 2)));
  });

  it("does not believe a failed response", () => {
    const failed = { ...reply(5000, 2), stopReason: "error" } as AgentMessage;
    expect(estimateContextTokens([user(4), failed])).toBe(1 + estimateTokens(failed));
  });

  const settings = { enabled: true, reserveTokens: 100, keepRecentTokens: 10 };
  it.each([
    [901, 1000, true, true],
    [900, 1000, true, false],
    [901, 1000, false, false],
    [901, 0, true, false],
  ])("of %i tokens in a window of %i, enabled %s: %s", (tokens, window, enabled, expected) => {
    expect(shouldCompact(tokens, window, { ...settings, enabled })).toBe(expected);
  });
});
