/**
 * States and actions in the words of somebody who has to decide what to do about them. What is printed of a file is made
 * harmless first: a session may hold anything, and a terminal obeys some of it.
 */
import { absurd } from "../foundation/index.ts";
import type {
  Generation,
  OperationState,
  RunState,
  StructuralDecision,
  SummaryGeneration,
} from "../model/index.ts";
import type { Action } from "../operation/index.ts";

/** Text of a file with everything that a terminal could obey, or that breaks a line, made visible. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return SHORT[character] ?? `\\u${code}`;
  });
}

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

/** The first characters of a text, printable. */
export function preview(text: string, charactersMax = 60): string {
  const characters = Array.from(text.slice(0, 4 * charactersMax));
  const isCut = characters.length > charactersMax;
  return printable(characters.slice(0, charactersMax).join("")) + (isCut ? "…" : "");
}

/** `1 line`, `3 lines`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** A time as people write it; the number itself if it is none. */
export function timeInWords(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? String(timeMs) : date.toISOString();
}

/** Where an operation stands. */
export function phaseInWords(state: OperationState): string {
  const phase = phaseOf(state);
  if (state.control.status === "running") return phase;
  return `${phase}; cancelled at ${timeInWords(state.control.requestedAt)}`;
}

function phaseOf(state: OperationState): string {
  switch (state.kind) {
    case "run":
      return runPhase(state);
    case "compaction":
      return `compacting on request: ${structural(state.structural)}`;
    case "navigation": {
      const to = state.targetId === null ? "the root" : state.targetId;
      if (!state.summarize) return `about to move the leaf to ${to}`;
      return `moving the leaf to ${to} with a summary of the branch that is left: ${structural(state.phase.structural)}`;
    }
    default:
      return absurd(state, "operation state");
  }
}

function runPhase({ phase }: RunState): string {
  switch (phase.kind) {
    case "checkpoint":
      return phase.continuation.kind === "need_assistant"
        ? "at a checkpoint, and the model is to be asked next"
        : "at a checkpoint, and may end";
    case "assistant":
      return generation(phase.generation);
    case "tools": {
      const { calls } = phase.batch;
      const count = (status: string) => calls.filter((call) => call.status === status).length;
      const started = calls.filter((call) => call.status === "effect_pending");
      const replay = started.map(
        ({ sourceIndex, replay: policy }) =>
          `call ${sourceIndex} was started, declared ${policy === "safe" ? "safe to repeat" : "never to be repeated"}`,
      );
      return [
        `running ${counted(calls.length, "tool call")} of response ${phase.batch.assistantEntryId}: ` +
          `${count("completed")} done, ${started.length} started, ${count("planned")} not begun`,
        ...replay,
      ].join("; ");
    }
    case "compaction":
      return `${phase.reason === "overflow" ? "compacting because a request did not fit" : "compacting because the context grew long"}: ${structural(phase.structural)}`;
    case "deferred":
      return phase.deferred.status === "suspended"
        ? `waiting for a deferred response after ${counted(phase.deferred.poll, "poll")}`
        : `poll ${phase.deferred.poll} of a deferred response was sent, and nobody knows how it ended`;
    case "failure_drain":
      return `failed (${printable(phase.error.code)}: ${preview(phase.error.message)}), and about to end unless input waits`;
    default:
      return absurd(phase, "phase of a run");
  }
}

function generation(found: Generation): string {
  switch (found.status) {
    case "ready":
      return `about to send request attempt ${found.nextAttempt} of ${found.context.retryPolicy.maxAttempts}`;
    case "effect_pending":
      return `request attempt ${found.attempt} of ${found.context.retryPolicy.maxAttempts} was sent, or was about to be, and nobody knows how it ended`;
    case "retry_wait":
      return `waiting until ${timeInWords(found.notBefore)} for request attempt ${found.nextAttempt} of ${found.context.retryPolicy.maxAttempts}, after "${preview(found.errorMessage)}"`;
    default:
      return absurd(found, "generation");
  }
}

function structural(decision: StructuralDecision): string {
  return decision.status === "deciding" ? "the hook is to decide" : summary(decision.generation);
}

function summary(found: SummaryGeneration): string {
  switch (found.status) {
    case "ready":
      return `about to generate the summary, attempt ${found.nextAttempt} of ${found.context.retryPolicy.maxAttempts}`;
    case "effect_pending":
      return `summary attempt ${found.attempt} of ${found.context.retryPolicy.maxAttempts} was under way${found.request === undefined ? "" : `, with request ${found.request.index} sent`}`;
    case "retry_wait":
      return `waiting until ${timeInWords(found.notBefore)} for summary attempt ${found.nextAttempt} of ${found.context.retryPolicy.maxAttempts}`;
    default:
      return absurd(found, "summary generation");
  }
}

/** What a drive does, said as a forecast. `toolName` answers for a call by its place in the response. */
export function actionInWords(action: Action, toolName: (sourceIndex: number) => string): string {
  switch (action.kind) {
    case "consume_inbox":
      return `place ${counted(action.ids.length, "queued item")} (${action.queue}) in the tree`;
    case "start_generation":
      return "capture configuration and settings, and begin a request to the model";
    case "request_assistant":
      return "commit the intent of the request, and send it";
    case "advance":
      return action.event.kind === "retry_wait_ended"
        ? "end the wait and begin the next attempt"
        : "give the attempt up, whose outcome nobody knows, and begin the next one that the captured policy allows";
    case "settle_generation":
      return "settle the request as interrupted under its reserved ids: its outcome is unknown, and the captured policy allows no further attempt";
    case "clear_tool":
      return `look up ${toolName(action.sourceIndex)}, hold its arguments against its schema, commit the intent, and execute it`;
    case "replay_tool":
      return `execute ${toolName(action.sourceIndex)} again with the stored arguments, if it is still declared safe; otherwise answer it as interrupted`;
    case "settle_tool":
      return action.reason.kind === "interrupted"
        ? `answer ${toolName(action.sourceIndex)} as interrupted, and never execute it again: it may have happened`
        : `answer ${toolName(action.sourceIndex)} with a ${action.reason.kind} result, without executing it`;
    case "await_effect":
      return "wait for an effect that runs";
    case "wait":
      return `wait until ${timeInWords(action.untilMs)}`;
    case "suspend":
      return action.reason === "deferred"
        ? "stay suspended until the response is asked for"
        : "stay suspended until what the configuration names is registered";
    case "finish":
      return `end the operation as ${action.outcome.kind}`;
    case "poll_deferred":
      return "poll the deferred response once";
    case "settle_poll":
      return "settle the poll as aborted under its reserved ids";
    case "cancel_deferred":
      return "tell the provider that the deferred response is not wanted any more, and end";
    case "decide":
      return "ask the decision hooks";
    case "start_summary":
      return "capture configuration and settings, and begin a summary";
    case "start_summary_attempt":
      return "begin an attempt at the summary";
    case "request_summary":
      return "commit the intent of the summary's next request, and send it";
    case "retry_summary":
      return "wait, and then try the summary again";
    case "conclude_compaction":
      return `end the compaction as ${action.conclusion.kind}, and go on with the run`;
    case "prepare_threshold_compaction":
      return "see what a compaction would summarize, and begin it";
    default:
      return absurd(action, "action");
  }
}
