/**
 * The calls of an application in a continuation: what is durable of them, and what they make of queues and control
 * (spec §3.11, §4.6).
 *
 * What is durable is never said again; a call that belongs to a moment is made when the moment comes again. A first
 * abort is made once; a message for a run that is cancelled is refused.
 */
import {
  callsAt,
  isNoting,
  type MeanwhileCall,
  type Moment,
  type QueueCall,
  type Scenario,
  type Stimulus,
  type StructuralCall,
} from "../../faults/index.ts";
import { contentOf, type ExpectedQueues } from "./expected-queues.ts";
import type { ExpectedSession } from "./expected-session.ts";

/** See the module header. */
export class ExpectedCalls {
  /** Whether the open operation is cancelled. */
  isCancelled: boolean;
  readonly #scenario: Scenario;
  readonly #session: ExpectedSession;
  readonly #queues: ExpectedQueues;

  constructor(scenario: Scenario, session: ExpectedSession, queues: ExpectedQueues, isCancelled: boolean) {
    this.#scenario = scenario;
    this.#session = session;
    this.#queues = queues;
    this.isCancelled = isCancelled;
  }

  /** Whether a call is durable. */
  isDone(call: Exclude<Stimulus, StructuralCall> | MeanwhileCall): boolean {
    if (call.call === "cancelQueued" || call.call === "abort") return false;
    if (isNoting(call)) return this.#session.isNoted(call);
    return this.#session.holds(call.text) || this.#queues.holds(call.text);
  }

  /** The calls of a moment, as far as they are not durable. */
  during(moment: Moment): void {
    for (const call of callsAt(this.#scenario, moment)) {
      if (call.call === "abort") this.#cancel();
      else if (!this.isDone(call)) this.say(call);
    }
  }

  /** The first abort; every further one changes nothing. */
  #cancel(): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    this.#queues.drain();
  }

  /** A call that queues something, or takes it back. */
  say(said: QueueCall): void {
    const { call, text } = said;
    const isRefused = this.isCancelled && (call === "steer" || call === "followUp");
    if (call === "cancelQueued") this.#queues.withdraw(text);
    else if (!isRefused) {
      this.#queues.add(call, this.#session.item(contentOf(said, this.#session.nowMs)));
    }
  }
}
