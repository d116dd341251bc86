/**
 * The judge of histories: each order of a race leaves its own, and nothing else is right.
 *
 * It stands beside the judges of the subject and is shown the same. In a run that nobody cut and whose marks prove the
 * order that was asked for, what is durable at the end must be the history of that order, and every call must have been
 * answered as that order says. In a run that was cut, or in which the calls fell elsewhere, it must be the history of one
 * of the orders, or one that the race names beside them; but never one without a call of which somebody was told, before
 * the death if there was one, that it was done.
 *
 * Where the order asked for did not happen nothing can be said of it: `unprovenOf` tells, and the run is inconclusive.
 */
import type { CheckerRun, Violation } from "../../checkers/index.ts";
import {
  firstUnproven,
  type Race,
  type RaceOrder,
  type Story,
  type TimelineEvent,
} from "../../faults/index.ts";
import type { RunEnd, Subject } from "../../subject/index.ts";
import { violationsOf } from "../checks.ts";
import { doubt, type Finding } from "../judgement.ts";

/** A subject that can tell stories. */
export type Narrator = Pick<Subject, "story">;

/** The judges of a subject, with the judge of histories beside them. `order`: the one that is asked for, if one is. */
export function judgeHistory(
  inner: CheckerRun<RunEnd>,
  subject: Narrator,
  race: Race,
  order: RaceOrder | undefined,
): CheckerRun<RunEnd> {
  return new HistoryRun(inner, subject, race, order, []);
}

/** Why a run shows nothing of the order that was asked for, if it does not. */
export function unprovenOf(
  { name, proof }: RaceOrder,
  events: readonly TimelineEvent[],
): Finding | undefined {
  const missing = firstUnproven(proof, events);
  if (missing === undefined) return undefined;
  const message = `the order ${name} did not happen: no "${missing}" where it must stand in ${proof.map((mark) => `"${mark}"`).join(", ")}`;
  return doubt("order-not-reached", message);
}

class HistoryRun implements CheckerRun<RunEnd> {
  readonly #inner: CheckerRun<RunEnd>;
  readonly #subject: Narrator;
  readonly #race: Race;
  readonly #order: RaceOrder | undefined;
  readonly #events: TimelineEvent[];

  constructor(
    inner: CheckerRun<RunEnd>,
    subject: Narrator,
    race: Race,
    order: RaceOrder | undefined,
    events: readonly TimelineEvent[],
  ) {
    this.#inner = inner;
    this.#subject = subject;
    this.#race = race;
    this.#order = order;
    this.#events = [...events];
  }

  observe(event: TimelineEvent): void {
    this.#inner.observe(event);
    this.#events.push(event);
  }

  fork(): HistoryRun {
    return new HistoryRun(this.#inner.fork(), this.#subject, this.#race, this.#order, this.#events);
  }

  finish(end: RunEnd): readonly Violation[] {
    const story = this.#subject.story?.(end.view) ?? [];
    return [...this.#inner.finish(end), ...this.#broken(story)];
  }

  #broken(story: Story): readonly Violation[] {
    const order = this.#order;
    const isCut = this.#events.some(({ kind }) => kind === "crash");
    if (isCut || order === undefined || unprovenOf(order, this.#events) !== undefined) {
      return this.#anyOf(story);
    }
    return [...historyOf(order, story), ...answersOf(order, this.#events), ...absentOf(order, this.#events)];
  }

  /** The history of some order, or one beside them. */
  #anyOf(story: Story): readonly Violation[] {
    const { orders, elsewhere = [], name } = this.#race;
    if (orders.some(({ history }) => isSame(history, story))) return [];
    const known = elsewhere.find(({ history }) => isSame(history, story));
    if (known === undefined) {
      const legal = [...orders.map(({ history }) => history), ...elsewhere.map(({ history }) => history)];
      const message = `the race ${name} has ${legal.length} histories, and this is none of them:\n${indented(story)}`;
      return [violation("no-legal-history", message)];
    }
    const told = known.lacks !== undefined && this.#wasDone(known.lacks);
    if (!told) return [];
    const message = `${known.lacks} was answered as done, and what is left is as if nobody had called: ${known.why}`;
    return [violation("answered-call-lost", message)];
  }

  /**
   * Whether a call was answered as one of the orders says it is when it is done, and not with the tag of a refusal; before
   * the last death, if there was one.
   */
  #wasDone(call: string): boolean {
    const death = this.#events.findLastIndex(({ kind }) => kind === "crash");
    const done = this.#race.orders.flatMap(({ answers }) => answers[call] ?? []).filter(isNoTag);
    return this.#events
      .slice(0, death < 0 ? this.#events.length : death)
      .some((event) => event.kind === "answer" && event.name === call && done.includes(event.text));
  }
}

/** Refusals have the names of errors. */
function isNoTag(answer: string): boolean {
  return /^[a-z0-9]/.test(answer);
}

function historyOf({ name, history }: RaceOrder, story: Story): readonly Violation[] {
  if (isSame(history, story)) return [];
  const message = `the order ${name} happened and left another history; expected\n${indented(history)}\nfound\n${indented(story)}`;
  return [violation(`history:${name}`, message)];
}

function answersOf({ name, answers }: RaceOrder, events: readonly TimelineEvent[]): readonly Violation[] {
  return Object.entries(answers).flatMap(([call, expected]) => {
    const found = events.find((event) => event.kind === "answer" && event.name === call);
    const text = found?.kind === "answer" ? found.text : "nothing";
    if (text === expected) return [];
    const message = `the order ${name} happened, and ${call} was answered "${text}" instead of "${expected}"`;
    return [violation(`answer:${call}`, message)];
  });
}

/** What must not have happened, and did. */
function absentOf({ name, absent = [] }: RaceOrder, events: readonly TimelineEvent[]): readonly Violation[] {
  return absent
    .filter((mark) => firstUnproven([mark], events) === undefined)
    .map((mark) => violation(`happened:${mark}`, `the order ${name} happened, and so did "${mark}"`));
}

const violation = violationsOf("race-history");

function isSame(one: Story, other: Story): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}

function indented(story: Story): string {
  return story.map((line) => `  ${line}`).join("\n");
}
