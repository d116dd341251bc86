/**
 * A race as data: two things that want the same lane at the same time, the two orders in which they can come, and the
 * history that each order must leave. `races/` holds them, one a file.
 *
 * Terms. *Schedule*: which calls the application makes at which moments of a life that is driven by hand. *Moment*: before
 * or after an action of that drive, or before or beside a call that the application makes anyhow. *Mark*: one event of a
 * timeline as a short text; see `marks.ts`. *Story*: what is durable, line by line, in the words of the subject.
 *
 * Invariants.
 * 1. A call comes from outside: nobody holds it back. What it writes passes the gate like every other commit.
 * 2. A call is made at the first coming of its moment in a life, and in no life after its effect is durable.
 * 3. An order that its marks do not prove did not happen, whatever the run has left.
 */
import type { NotingCall, QueueCall, Scenario, StructuralCall } from "./scenario.ts";

/** See the module header. */
export interface Race {
  /** Its name on the command line. */
  readonly name: string;
  /** The row of the catalogue: the pair, and what each order must leave, in a few words. */
  readonly row: { readonly pair: string; readonly first: string; readonly second: string };
  /** What is run, without the calls that race. Its name and title are those of the race. */
  readonly scenario: Omit<Scenario, "name" | "title" | "schedule">;
  readonly orders: readonly [RaceOrder, RaceOrder];
  /**
   * Further histories that are right: where the calls fall elsewhere in the run, which exploring does everywhere, and
   * where a process died before a call was answered, so that nobody made it, or made it again later.
   */
  readonly elsewhere?: readonly Elsewhere[];
}

/** One of the two orders. */
export interface RaceOrder {
  /** In run ids: `abort-first`. */
  readonly name: string;
  /** How it is made to happen. */
  readonly schedule: readonly ScheduledCall[];
  /**
   * Where the other party is another process: the owner of the session stalls before the first commit of this label,
   * another process takes the session over and goes on, and then the owner wakes up.
   */
  readonly stallsBefore?: string;
  /** Marks that stand in the timeline in this order, others between them; a trailing `*` stands for any rest. */
  readonly proof: readonly string[];
  /** Marks that the run that nobody cuts must not have. */
  readonly absent?: readonly string[];
  /** What each call is answered, by its name, in the run that nobody cuts. */
  readonly answers: Readonly<Record<string, string>>;
  /** What is durable at the end. */
  readonly history: Story;
}

/** See {@link Race.elsewhere}. */
export interface Elsewhere {
  /** Where the calls fall then. */
  readonly why: string;
  readonly history: Story;
  /** The call that was never made in it. It is wrong where somebody was told before a death that it was done. */
  readonly lacks?: string;
}

/** What is durable, line by line. */
export type Story = readonly string[];

/** A call, and when it is made. */
export interface ScheduledCall {
  readonly at: RaceMoment;
  readonly call: RaceCall;
  /** What marks and answers name it by; default: the name of the call. */
  readonly as?: string;
}

/**
 * When. Actions have the names that the subject gives them. `before`, `after`: it is the next action, or it has just been
 * executed. `beforeCall`: the application is about to make a call of this name. `besideCall`: it has made it, and has
 * not waited for anything.
 */
export type RaceMoment =
  | { readonly before: string }
  | { readonly after: string }
  | { readonly beforeCall: string }
  | { readonly besideCall: string };

/** What is called. The last ones have no place in a workload: they have a meaning beside another call only. */
export type RaceCall =
  | { readonly call: "prompt"; readonly text: string }
  | { readonly call: "abort" }
  | QueueCall
  | StructuralCall
  | NotingCall
  | SettingCall
  /** `endOutside`: somebody else commits the end of the open operation. `fork`: the session as it is becomes another. */
  | { readonly call: "resume" | "close" | "endOutside" | "fork" };

/** Calls that change what a generation captures when it starts. */
export type SettingCall =
  | { readonly call: "setModel"; readonly model: string }
  | { readonly call: "setActiveTools"; readonly names: readonly string[] }
  | { readonly call: "setRetryPolicy"; readonly maxRetries: number }
  | { readonly call: "setStreamOptions"; readonly timeoutMs: number };

/** Of the steps at which an application is about to make a call of its own, where interleavings are explored. */
export const CALL_LABEL = "call";

/** The name of the call by which somebody else ends an operation; judges know it, because its commit is no runtime's. */
export const OUTSIDE_END = "endOutside";

/** The name of a scheduled call. */
export function nameOf({ as, call }: ScheduledCall): string {
  return as ?? call.call;
}

/** A race in one of its orders, as a scenario. */
export function scheduled(race: Race, order: RaceOrder): Scenario {
  return { ...unscheduled(race), schedule: order.schedule };
}

/** What a race runs, without its calls. */
export function unscheduled({ name, row, scenario }: Race): Scenario {
  return { ...scenario, name, title: row.pair };
}
