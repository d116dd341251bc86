/**
 * Deferred answers in a continuation (spec §3.2): when a job is polled, and what an answer to a poll becomes.
 *
 * The application resumes a deferred job at the time that its handle names, or at once if that is past. That time stands
 * in the view, so it is moved by downtimes like every other. A poll that a crash made unknown is sent again, at the same
 * number, under fresh ids.
 *
 * A `resume()` has one permit to poll, and what it repairs before does not use it up (spec §4.1). So where a resumed run
 * comes to an answer that is put off, it is polled in the same call, without a wait.
 */
import type { Scenario } from "../../faults/index.ts";
import { jsonEquals } from "../../foundation/index.ts";
import { ANY_TEXT, type LibraryReply } from "./library.ts";
import { NotCovered, type ParsedEntry, type ParsedHandle } from "./parsed-view.ts";

/** A poll that is to be made. */
export interface NextPoll {
  readonly kind: "poll";
  readonly handle: ParsedHandle;
  /** The earliest time, as an offset in ms; absent: at once. */
  readonly notBeforeMs?: number;
}

/** Whether a scenario defers: then a restart changes when its polls are made, whatever was pending at the cut. */
export function defers({ turns }: Scenario): boolean {
  return turns.some((replies) => replies.some(({ stopReason }) => stopReason === "deferred"));
}

/** The poll of a job whose answer was put off just now; at once if a permit is left. */
export function pollOf(handle: ParsedHandle, hasPermit: boolean): NextPoll {
  return { kind: "poll", handle, ...(hasPermit ? {} : { notBeforeMs: handle.data.notBefore }) };
}

/** The handle of a source that is stored. */
export function handleAt(entries: readonly ParsedEntry[], sourceEntryId: string): ParsedHandle {
  const handle = entries.find(({ id }) => id === sourceEntryId)?.message?.deferred;
  if (handle === undefined) throw new NotCovered("a deferred job whose source has no handle");
  return handle;
}

/**
 * A deferred answer, as it is stored at a time. Without `polled` it is that of a request, and begins a job; to a poll,
 * the same job answers with the handle that was polled, and another job makes it an error in the runtime's own words.
 */
export function deferredAt(reply: LibraryReply, nowMs: number, polled?: ParsedHandle): LibraryReply {
  const { deferred } = reply.message;
  if (deferred === undefined) return reply;
  const isPolled = deferred.id === polled?.id;
  const handle = isPolled
    ? polled
    : { ...deferred, data: { ...deferred.data, notBefore: nowMs + reply.takesMs } };
  const message = { ...reply.message, deferred: handle };
  if (polled === undefined || jsonEquals(handle, polled) || reply.stopReason !== "deferred")
    return { ...reply, message };
  const failed = { ...message, stopReason: "error", ...{ errorMessage: ANY_TEXT } };
  return { ...reply, message: failed, stopReason: "error", errorMessage: undefined };
}
