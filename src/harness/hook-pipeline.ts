/**
 * Running the handlers of a hook, one after another, as one effect (spec §5.6).
 *
 * 1. The whole pipeline of a name is one action of manual drive; where there are no handlers, there is no action.
 * 2. A handler that throws, or returns what it must not, is told of as `handler_error` and passed over; what the others
 *    made stands. A round may make something of it instead: `before_tool` blocks.
 * 3. What a handler is given is its own to change.
 * 4. A pipeline starts like every effect: not after a cancellation that is durable. One that has started is let finish,
 *    and what it made is used.
 */
import type { Environment } from "./environment.ts";
import { handlerError } from "./event-bus.ts";
import type { HookInvocation, HookMap, HookName, RegisteredHook } from "./hooks.ts";
import type { TelemetryContext } from "./telemetry.ts";

/** Where a hook runs: of which operation, and through which gate. */
export interface HookSite {
  readonly lane: string;
  readonly runId: string;
  readonly telemetry: TelemetryContext;
  /** Lets the pipeline go, or answers `notStarted` if a cancellation came first; a manual drive parks here. */
  pass<T>(name: HookName, run: () => Promise<T>, notStarted: T): Promise<T>;
}

/** A handler returned what its hook does not allow. */
export class InvalidHookOutput extends Error {
  override readonly name = "InvalidHookOutput";

  constructor(hook: HookName, expected: string) {
    super(`a handler of ${hook} returned what it must not: ${expected}`);
  }
}

/** One round of a pipeline. */
export interface HookRound<Name extends HookName, State> {
  /** What the next handler is asked with. */
  event(state: State, handler: RegisteredHook<Name>): HookMap[Name]["event"];
  /** What its answer makes of the state. @throws InvalidHookOutput, or anything, to have the handler passed over */
  apply(state: State, answer: NonNullable<HookMap[Name]["result"]>, handler: RegisteredHook<Name>): State;
  /** What a handler that failed makes of the state; absent where it is passed over. */
  failed?(error: unknown): State;
  /** Whether the handlers behind are not asked any more. */
  isFinal?(state: State): boolean;
}

/** Runs the handlers of a name over a state. Without handlers, and where they may not start, the state is as it was. */
export function runHooks<Name extends HookName, State>(
  environment: Environment,
  site: HookSite,
  name: Name,
  initial: State,
  round: HookRound<Name, State>,
): Promise<State> {
  return startedHooks<Name, State, State>(environment, site, name, { initial, notStarted: initial }, round);
}

/** As `runHooks`, for one who must know whether the handlers were started. */
export async function startedHooks<Name extends HookName, State, NotStarted>(
  environment: Environment,
  site: HookSite,
  name: Name,
  { initial, notStarted }: { readonly initial: State; readonly notStarted: NotStarted },
  round: HookRound<Name, State>,
): Promise<State | NotStarted> {
  if (!environment.hooks.has(name)) return notStarted;
  const { lane, runId } = site;
  const run = async (): Promise<State> => {
    let state = initial;
    for (const registered of environment.hooks.of(name)) {
      if (round.isFinal?.(state)) break;
      const span = site.telemetry.start("pi.harness.hook", { "pi.harness.hook_name": name });
      try {
        const event = { ...owned(round.event(state, registered)), lane, runId } as HookInvocation<Name>;
        const answer = await registered.handler(event);
        // A lost harness has nothing to do with an answer that comes after it.
        environment.lifecycle.admit();
        if (answer !== undefined && answer !== null) state = round.apply(state, answer, registered);
        span.end();
      } catch (error) {
        span.end({ "pi.harness.is_error": true });
        environment.lifecycle.admit();
        environment.events.emit({ ...handlerError(error, { kind: "hook", hook: name }), lane });
        if (round.failed) state = round.failed(error);
      }
    }
    return state;
  };
  return site.pass<State | NotStarted>(name, run, notStarted);
}

/** A copy of the JSON parts; models, payloads and sets are handed over as they are. */
function owned<Event extends object>(event: Event): Event {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(event)) {
    copy[key] = AS_THEY_ARE.has(key) ? value : structuredClone(value);
  }
  return copy as Event;
}

const AS_THEY_ARE: ReadonlySet<string> = new Set(["model", "payload"]);
