/**
 * Answers and results of another shape than the contract has: what a provider or a tool that is written in a hurry hands
 * over. Each is made from the right one, so that nothing else is wrong with it.
 */
import type { AgentToolResult, AssistantMessage } from "../../model/index.ts";

/** By shape: what stands in the place of a message. */
export const MALFORMED_MESSAGES: Readonly<Record<string, (right: AssistantMessage) => unknown>> = {
  null: () => null,
  text: () => "It is done.",
  "user-role": (right) => ({ ...right, role: "user" }),
  "no-usage": ({ usage: _, ...rest }) => rest,
  "usage-in-words": (right) => ({ ...right, usage: { ...right.usage, input: "many" } }),
  "nan-usage": (right) => ({ ...right, usage: { ...right.usage, output: Number.NaN } }),
  "content-text": (right) => ({ ...right, content: "It is done." }),
  "unknown-block": (right) => ({ ...right, content: [{ type: "hologram" }] }),
  "call-without-id": (right) => ({
    ...right,
    content: [{ type: "toolCall", name: "anything", arguments: {} }],
    stopReason: "toolUse",
  }),
  "unknown-stop": (right) => ({ ...right, stopReason: "bored" }),
  "no-stop": ({ stopReason: _, ...rest }) => rest,
  "pending-stop": (right) => ({ ...right, stopReason: "pending" }),
  "unasked-abort": (right) => ({ ...right, stopReason: "aborted" }),
  "function-inside": (right) => ({ ...right, content: [{ type: "text", text: "x", more: () => 1 }] }),
  "bigint-inside": (right) => ({ ...right, diagnostics: [{ tokens: 1n }] }),
  cycle: (right) => {
    const message: AssistantMessage & { self?: unknown } = { ...right };
    message.self = message;
    return message;
  },
  "throwing-member": (right) => throwing({ ...right }, "content"),
  "throwing-inside": (right) => ({ ...right, content: [throwing({ type: "text", text: "x" }, "text")] }),
  /** A handle where nobody asked for one, and a stop reason that does not go with it. */
  "handle-without-deferral": (right) => ({ ...right, deferred: { id: 7 } }),
  "deferral-without-handle": ({ deferred: _, ...rest }) => ({ ...rest, stopReason: "deferred" }),
  "handle-of-nothing": (right) => ({ ...right, stopReason: "deferred", deferred: { id: "job" } }),
};

/** By shape: what a tool returns. */
export const MALFORMED_RESULTS: Readonly<Record<string, (right: AgentToolResult) => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  text: () => "done",
  "content-text": (right) => ({ ...right, content: "done" }),
  "unknown-block": (right) => ({ ...right, content: [{ type: "hologram" }] }),
  "function-inside": (right) => ({ ...right, details: { undo: () => undefined } }),
  "bigint-inside": (right) => ({ ...right, details: { cents: 25_000n } }),
  "nan-inside": (right) => ({ ...right, details: { rate: Number.NaN } }),
  "date-inside": (right) => ({ ...right, details: { at: new Date(0) } }),
  cycle: (right) => {
    const details: { self?: unknown } = {};
    details.self = details;
    return { ...right, details };
  },
  "part-of-usage": (right) => ({ ...right, usage: { input: 1 } }),
  "throwing-member": (right) => throwing({ ...right }, "content"),
  "throwing-inside": (right) => ({ ...right, details: throwing({ at: 1 }, "at") }),
};

/** By shape: what a tool throws. */
export const THROWN: Readonly<Record<string, () => unknown>> = {
  error: () => new Error("the tool broke"),
  undefined: () => undefined,
  text: () => "the tool broke",
  /** An error whose message cannot be read either. */
  unreadable: () => throwing(new Error("the tool broke"), "message"),
};

function throwing<T extends object>(value: T, member: string): T {
  return Object.defineProperty(value, member, {
    enumerable: true,
    configurable: true,
    get: () => {
      throw new Error(`the member ${member} cannot be read`);
    },
  });
}
