/** The ways in which the world around a harness misbehaves, as a list. */
import type { ReplyPlace, WorldFaultKind } from "../../faults/index.ts";
import { MALFORMED_MESSAGES, MALFORMED_RESULTS, THROWN } from "./malformed.ts";

const EVERY_REPLY: readonly ReplyPlace[] = ["turn", "poll", "summary"];
/** Less than a restart takes, or a lease of a dead owner would still hold. */
const STEP_BACK_MS = -30_000;
const DAY_MS = 86_400_000;

/** Shapes of which the cost cannot be understood. */
const COSTS_NOBODY_KNOWS = new Set([
  "null",
  "text",
  "no-usage",
  "usage-in-words",
  "nan-usage",
  "undefined",
  "part-of-usage",
]);

export const HARNESS_WORLD_FAULTS: readonly WorldFaultKind[] = [
  {
    name: "reply-overloaded",
    place: "reply",
    fault: { kind: "fails", message: "overloaded" },
    of: EVERY_REPLY,
    keepsUsage: true,
  },
  {
    name: "reply-refused",
    place: "reply",
    fault: { kind: "fails", message: "the account is closed" },
    of: EVERY_REPLY,
    keepsUsage: true,
  },
  {
    name: "reply-timeout",
    place: "reply",
    fault: { kind: "times out" },
    of: EVERY_REPLY,
  },
  { name: "reply-hangs", place: "reply", fault: { kind: "hangs" }, of: EVERY_REPLY },
  ...Object.keys(MALFORMED_MESSAGES).map(
    (shape): WorldFaultKind => ({
      name: `reply-malformed.${shape}`,
      place: "reply",
      fault: { kind: "malformed", shape },
      of: EVERY_REPLY,
      ...(COSTS_NOBODY_KNOWS.has(shape) ? {} : { keepsUsage: true }),
    }),
  ),
  { name: "stream-ends", place: "stream", how: "silently" },
  { name: "stream-throws", place: "stream", how: "throwing" },
  { name: "stream-pending", place: "stream", how: "pending" },
  { name: "tool-hangs", place: "tool", fault: { kind: "hangs" } },
  ...Object.keys(THROWN).map(
    (shape): WorldFaultKind => ({
      name: `tool-throws.${shape}`,
      place: "tool",
      fault: { kind: "throws", shape },
    }),
  ),
  ...Object.keys(MALFORMED_RESULTS).map(
    (shape): WorldFaultKind => ({
      name: `tool-returns.${shape}`,
      place: "tool",
      fault: { kind: "returns", shape },
      ...(COSTS_NOBODY_KNOWS.has(shape) ? {} : { keepsUsage: true }),
    }),
  ),
  { name: "tool-hook-throws", place: "tool hook", how: "throws" },
  { name: "tool-hook-nonsense", place: "tool hook", how: "nonsense" },
  { name: "hook-throws", place: "hook", how: "throws" },
  { name: "hook-nonsense", place: "hook", how: "nonsense" },
  { name: "listener-throws", place: "listener" },
  { name: "clock-back", place: "clock", stepMs: STEP_BACK_MS },
  { name: "clock-forward", place: "clock", stepMs: DAY_MS },
  { name: "other-answer-after-restart", place: "restart" },
];
