/**
 * Running the handlers of a hook, one after another, as one effect (spec §5.6).
 *
 * 1. The whole pipeline of a name is one action of manual drive; where there are no handlers, there is no action.
 * 2. A handler that throws, or returns what it must not, is told of as `handler_error` and passed over; what the others
 *    made stands. (`before_tool` blocks instead, see `tool-hooks.ts`.)
 * 3. What a handler is given is its own to change.
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
  /** Lets the pipeline go; a manual drive parks here. */
  pass<T>(name: HookName, run: () => Promise<T>): Promise<T>;
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
}

/** Runs the handlers of a name over a state. */
export async function runHooks<Name extends HookName, State>(
  environment: Environment,
  site: HookSite,
  name: Name,
  initial: State,
  round: HookRound<Name, State>,
): Promise<State> {
  if (!environment.hooks.has(name)) return initial;
  const { lane, runId } = site;
  return site.pass(name, async () => {
    let state = initial;
    for (const registered of environment.hooks.of(name)) {
      const span = site.telemetry.start("pi.harness.hook", { "pi.harness.hook_name": name });
      try {
        const event = { ...owned(round.event(state, registered)), lane, runId } as HookInvocation<Name>;
        const answer = await registered.handler(event);
        // A lost harness has nothing to do with an answer that comes after it.
        environment.lifecycle.admit();
        if (answer !== undefined) state = round.apply(state, answer, registered);
        span.end();
      } catch (error) {
        span.end({ "pi.harness.is_error": true });
        environment.lifecycle.admit();
        reportHook(environment, lane, name, error);
      }
    }
    return state;
  });
}

/** Tells of a handler that failed. */
export function reportHook({ events }: Environment, lane: string, hook: HookName, error: unknown): void {
  events.emit({ ...handlerError(error, { kind: "hook", hook }), lane });
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
