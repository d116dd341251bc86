/**
 * A world that misbehaves: the ways in which a provider, a tool, a hook, a listener or a clock is wrong, as data.
 *
 * A fault of a provider or a tool is part of the scenario (`ScriptedReply.fault`, `ScriptedTool.faults`), so it is there
 * for every life that asks for the same answer, and the judges know of it. A *disturbance* is of one life: at its k-th
 * asking of a hook, its k-th event, its k-th look at the clock. Whatever misbehaves puts a `fault` into the timeline: a run
 * without one shows nothing.
 */
import type { Timeline } from "./timeline.ts";

/** How an answer of the model is given wrongly. Of no such answer anything but an error may be settled. */
export type ReplyFault =
  /** The provider answers that it failed. */
  | { readonly kind: "fails"; readonly message: string }
  /** Nothing comes, and the provider's client gives the request up by itself. */
  | { readonly kind: "times out" }
  /** The stream breaks off after so many events: without a word, with an error, or with an answer that is not done. */
  | {
      readonly kind: "breaks off";
      readonly afterEvents: number;
      readonly how: "silently" | "throwing" | "pending";
    }
  /** An answer of another shape than a message has; the shapes belong to the systems. */
  | { readonly kind: "malformed"; readonly shape: string }
  /** Nothing comes until the request is cancelled. */
  | { readonly kind: "hangs" };

/** How an execution of a tool ends wrongly. The effect has happened all the same. */
export type ToolFault = (
  | { readonly kind: "throws"; readonly shape: string }
  | { readonly kind: "returns"; readonly shape: string }
  /** Nothing comes until it is cancelled. */
  | { readonly kind: "hangs" }
) & {
  /** What it says all the same that it has cost, in words that can be understood by themselves. */
  readonly reports?: { readonly input: number; readonly output: number };
};

/** One way in which the world of a subject can misbehave; subjects list theirs. */
export type WorldFaultKind = {
  /** Letters, digits, dots and dashes: `reply-malformed.no-usage`. */
  readonly name: string;
} & (
  | {
      readonly place: "reply";
      readonly fault: Exclude<ReplyFault, { kind: "breaks off" }>;
      /** Of which answers. */
      readonly of: readonly ReplyPlace[];
      /** Whether what the answer has cost can be understood all the same. */
      readonly keepsUsage?: true;
    }
  /** At each event of each stream. */
  | { readonly place: "stream"; readonly how: Extract<ReplyFault, { kind: "breaks off" }>["how"] }
  | { readonly place: "tool"; readonly fault: ToolFault; readonly keepsUsage?: true }
  /** The hook that is asked before a tool runs, and that keeps it from running when it fails. */
  | { readonly place: "tool hook"; readonly how: HookFault }
  | { readonly place: "hook"; readonly how: HookFault }
  | { readonly place: "listener" }
  | { readonly place: "clock"; readonly stepMs: number }
  /** The model says something else to a process that was restarted. */
  | { readonly place: "restart" }
);

export type ReplyPlace = "turn" | "poll" | "summary";
export type HookFault = "throws" | "nonsense";

/** What happens in one life. */
export type DisturbanceKind = Extract<WorldFaultKind, { place: "hook" | "listener" | "clock" }>;

/** A disturbance of one life, and its count. With occurrence 0 nothing happens, and everything is counted. */
export class Disturbance {
  readonly kind: DisturbanceKind;
  readonly #at: number;
  #count = 0;

  /** @param at which occurrence of its place, from 1. */
  constructor(kind: DisturbanceKind, at: number) {
    this.kind = kind;
    this.#at = at;
  }

  /** How often its place came. */
  get count(): number {
    return this.#count;
  }

  /** Asked at each occurrence of the place: whether it happens now. */
  isDue(timeline: Timeline): boolean {
    if (++this.#count !== this.#at) return false;
    timeline.push({ kind: "fault", name: this.kind.name });
    return true;
  }
}
