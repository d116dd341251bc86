/**
 * The timeline: what was observed, in order. Checkers read it, `repro` prints it.
 *
 * A commit's payload belongs to the system under test and is opaque here; the system's own checkers know its shape.
 */
import type { Boundary } from "./boundary.ts";
import type { WorldRow } from "./world-row.ts";

export type TimelineEvent =
  /** A life begins: 0 is the first, 1 the first after a crash, … */
  | { readonly kind: "boot"; readonly incarnation: number }
  /** A commit that the store confirmed. `payload` is the system's own. */
  | { readonly kind: "commit"; readonly boundary: Boundary; readonly payload: unknown }
  /** A commit that the store refused or failed. */
  | {
      readonly kind: "commit-failed";
      readonly boundary: Boundary;
      readonly payload: unknown;
      readonly error: string;
    }
  /** Something happened outside. */
  | {
      readonly kind: "effect";
      readonly boundary: Boundary;
      readonly row: WorldRow;
      /** How many events came between the moment at which it was started and the one at which it happened; if any did. */
      readonly overtakenBy?: number;
    }
  | { readonly kind: "timer"; readonly boundary: Boundary; readonly delayMs: number }
  /** The application made a call that races with something; only where there are such calls. */
  | { readonly kind: "call"; readonly name: string }
  /** It was answered: `text` says how in a word. */
  | { readonly kind: "answer"; readonly name: string; readonly text: string }
  /** The world misbehaved, by the name of what it did. */
  | { readonly kind: "fault"; readonly name: string }
  /** A hook of the application that has the last word on something was asked. */
  | { readonly kind: "asked"; readonly name: string }
  /** The process died here. */
  | { readonly kind: "crash"; readonly at: string };

/** An ordered record of events, with listeners that judge as it grows. */
export class Timeline {
  readonly #events: TimelineEvent[] = [];
  readonly #listeners: ((event: TimelineEvent) => void)[] = [];

  /** Calls the listener for each event from now on. */
  listen(listener: (event: TimelineEvent) => void): void {
    this.#listeners.push(listener);
  }

  get events(): readonly TimelineEvent[] {
    return this.#events;
  }

  push(event: TimelineEvent): void {
    this.#events.push(event);
    for (const listener of this.#listeners) listener(event);
  }
}
