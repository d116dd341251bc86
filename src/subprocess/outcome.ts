/**
 * What may be said of each request, given what its child said and how it ended: the pool's judgement, without its
 * processes. Holds the pool's invariants 1 and 2.
 */

import type { Doubt, KillRequest, Note } from "./protocol.ts";
import type { ProcessEnd } from "./spawned.ts";

/** What became of one request. */
export type KillOutcome =
  /** Its process was killed while it stood at its cut: the folder holds the survivor. */
  | { readonly kind: "killed"; readonly request: KillRequest }
  | { readonly kind: "inconclusive"; readonly request: KillRequest; readonly doubt: Doubt };

/** What a child said and noted until it was over. */
export interface Talk {
  /** It announced that all are noted; it died before; or it did nothing for too long. */
  readonly ended: "announced" | "died" | "silent";
  readonly isReady: boolean;
  readonly notes: readonly Note[];
}

/**
 * The outcomes of a batch, and the requests that deserve another child because a session before them spoilt this one.
 * Never all of them: at least one request has an outcome. `byOurHand`: our SIGKILL ended the child.
 */
export function outcomesOf(
  batch: readonly KillRequest[],
  talk: Talk,
  end: ProcessEnd,
  byOurHand: boolean,
): { outcomes: readonly KillOutcome[]; again: readonly KillRequest[] } {
  const notes = new Map(talk.notes.map((note) => [note.session, note]));
  const culprit = batch.findIndex((_, session) => !notes.has(session));
  if (!talk.isReady || (culprit < 0 && !byOurHand)) {
    const doubt = talk.isReady
      ? { signature: "child-died", message: `the child died before it was killed; ${describe(end)}` }
      : { signature: "child-not-started", message: `the child never got ready; ${describe(end)}` };
    return { outcomes: batch.map((request) => ({ kind: "inconclusive", request, doubt })), again: [] };
  }
  const outcomes: KillOutcome[] = [];
  const again: KillRequest[] = [];
  for (const [session, request] of batch.entries()) {
    const note = notes.get(session);
    if (note?.kind === "unreached") outcomes.push({ kind: "inconclusive", request, doubt: note.doubt });
    else if (note?.kind === "parked" && byOurHand) outcomes.push({ kind: "killed", request });
    else if (session === culprit) outcomes.push({ kind: "inconclusive", request, doubt: spoilt(talk, end) });
    else again.push(request);
  }
  return { outcomes, again };
}

/** The doubt about the session that was being walked when its child came to nothing. */
function spoilt({ ended }: Talk, end: ProcessEnd): Doubt {
  return ended === "silent"
    ? {
        signature: "child-silent",
        message: `the child fell silent while it walked this session; ${describe(end)}`,
      }
    : { signature: "child-died", message: `the child died while it walked this session; ${describe(end)}` };
}

function describe({ code, signal, lastWords }: ProcessEnd): string {
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
  return lastWords === "" ? `${how}, without a word` : `${how}; its last words: ${lastWords.trim()}`;
}
