/**
 * Delivery of events (spec §5.5): in order, to everybody, and without a way back.
 *
 * 1. Every listener sees every event of its type in the order in which they were published. An event that a listener
 *    causes comes after the one that it is being told.
 * 2. What is delivered shares nothing with the work that goes on: values that are frozen already are handed out as they
 *    are, others are copied, once for all listeners. What cannot be copied is told as far as it can, and fails nobody.
 * 3. A listener that throws or rejects is told of as `handler_error`, and stops nobody. One that fails at being told of
 *    that is left alone.
 * 4. Nobody waits for a listener.
 */
import { isAdmitted } from "../foundation/index.ts";
import { messageOf, readOr } from "./errors.ts";
import type {
  EventListener,
  Events,
  HandlerErrorEvent,
  HarnessEvent,
  HarnessEventType,
} from "./event-types.ts";
import { NO_TELEMETRY, type TelemetryContext } from "./telemetry.ts";

/** Sees an event, and the span in which it came about. */
export type Watcher = (event: HarnessEvent, within: TelemetryContext) => void;

/** See the module header. */
export class EventBus implements Events {
  readonly #byType = new Map<HarnessEventType, Set<EventListener<never>>>();
  readonly #watchers = new Set<Watcher>();
  readonly #queue: { readonly event: HarnessEvent; readonly within: TelemetryContext }[] = [];
  readonly #telemetry: TelemetryContext;
  #isDelivering = false;

  constructor(telemetry: TelemetryContext = NO_TELEMETRY) {
    this.#telemetry = telemetry;
  }

  on<T extends HarnessEventType>(
    type: T,
    listener: EventListener<Extract<HarnessEvent, { type: T }>>,
  ): () => void {
    const listeners = this.#byType.get(type) ?? new Set();
    this.#byType.set(type, listeners);
    // Each registration is its own, also of a function that is registered twice.
    const registered: EventListener<never> = (event) => listener(event as Extract<HarnessEvent, { type: T }>);
    listeners.add(registered);
    return () => listeners.delete(registered);
  }

  /** Sees every event, isolated; must not throw. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Whether anybody listens to a type. */
  hasAudience(type: HarnessEventType): boolean {
    return this.#watchers.size > 0 || (this.#byType.get(type)?.size ?? 0) > 0;
  }

  /** Publishes an event of what goes on `within` a span. Returns when all listeners were called; never throws. */
  emit(event: HarnessEvent, within: TelemetryContext = this.#telemetry): void {
    if (!this.hasAudience(event.type)) return;
    this.#queue.push({ event: isolated(event), within });
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift())
        this.#deliver(next.event, next.within);
    } finally {
      this.#isDelivering = false;
    }
  }

  /** Calls a listener on behalf of somebody; its failure becomes an event. */
  call(listener: EventListener, event: HarnessEvent, within: TelemetryContext): void {
    const span = within.start("pi.harness.event_handler", { "pi.harness.event_type": event.type });
    const failed = (error: unknown) => {
      span.end({ "pi.harness.is_error": true });
      this.#failed(event, error);
    };
    try {
      const done: unknown = listener(event);
      if (done instanceof Promise) done.then(() => span.end(), failed);
      else span.end();
    } catch (error) {
      failed(error);
    }
  }

  #deliver(event: HarnessEvent, within: TelemetryContext): void {
    for (const watcher of [...this.#watchers]) watcher(event, within);
    for (const listener of [...(this.#byType.get(event.type) ?? [])]) {
      this.call(listener as EventListener, event, within);
    }
  }

  #failed(event: HarnessEvent, error: unknown): void {
    if (event.type === "handler_error") return;
    const scope = event.lane === undefined ? {} : { lane: event.lane };
    this.emit({ ...handlerError(error, { kind: "event", event: event.type }), ...scope });
  }
}

/** A failure of application code, as an event. */
export function handlerError(
  error: unknown,
  where: { kind: "hook"; hook: string } | { kind: "event"; event: string },
): HandlerErrorEvent {
  const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
  return { type: "handler_error", error: messageOf(error), ...stack, ...where };
}

function isolated(event: HarnessEvent): HarnessEvent {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(event)) copy[key] = isolatedCopy(value);
  return Object.freeze(copy) as unknown as HarnessEvent;
}

/** A value to hand out. A tool may report what cannot be copied: whoever listens gets what a text can carry of it, or null. */
export function isolatedCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || isAdmitted(value)) return value;
  const copied = readOr(() => ({ value: structuredClone(value) }));
  if (copied) return copied.value;
  return readOr(() => JSON.parse(JSON.stringify(value) ?? "null")) ?? null;
}
