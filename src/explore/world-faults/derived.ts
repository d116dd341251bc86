/**
 * The scenario in which the world misbehaves at one place, made from the one in which it does not.
 *
 * Terms. *Site*: one occurrence of a fault's place in the run to which nothing is done: its k-th request, its k-th
 * execution of a tool, the k-th event of its streams. What a life counts by itself (hooks, events, looks at the clock)
 * has no sites here: it is tried until it does not fire.
 *
 * Invariant: a fault of an answer or an execution belongs to what is asked, so it is met again by every life that asks for
 * the same.
 */
import {
  isStructural,
  type Moment,
  type ReplyFault,
  type ReplyPlace,
  type Scenario,
  type ScriptedReply,
  summaryReply,
  type TimelineEvent,
  turnReply,
  type WorldFaultKind,
  type WorldRow,
} from "../../faults/index.ts";
import { absurd } from "../../foundation/index.ts";

/** A place at which the world can misbehave. */
export type Site =
  | {
      readonly kind: "reply";
      readonly place: ReplyPlace;
      readonly row: Row;
    }
  | {
      readonly kind: "stream";
      readonly row: Row;
      /** How many events come before it breaks off. */
      readonly afterEvents: number;
    }
  | { readonly kind: "call"; readonly tool: string; readonly callId: string };

type Row = Extract<WorldRow, { kind: "request" | "summary" }>;

/** The sites of a kind in a run, in order. */
export function sitesOf(
  kind: WorldFaultKind,
  scenario: Scenario,
  events: readonly TimelineEvent[],
): readonly Site[] {
  const effects = events.flatMap((event) => (event.kind === "effect" ? [event] : []));
  const isCounted = isCountedOn(scenario);
  const areSummariesFree = !countsOnSummaries(scenario);
  const asks = effects.flatMap(({ boundary, row }): { readonly row: Row; readonly place: ReplyPlace }[] => {
    if (row.kind === "summary") return [{ row, place: "summary" as const }];
    const place: ReplyPlace = boundary.label === POLL_LABEL ? "poll" : "turn";
    return row.kind === "request" ? [{ row, place }] : [];
  });
  switch (kind.place) {
    case "reply":
      return asks
        .filter(
          ({ place }) => kind.of.includes(place) && (place === "summary" ? areSummariesFree : !isCounted),
        )
        .map((ask) => ({ kind: "reply", ...ask }));
    case "restart":
      // Only where a request that was lost is asked again.
      return scenario.settings.retry?.enabled !== true || isCounted
        ? []
        : asks
            .filter(({ place, row }) => place === "turn" && replyOf(scenario, row)?.stopReason !== "deferred")
            .map((ask) => ({ kind: "reply", ...ask }));
    case "stream":
      return asks
        .filter(({ place }) => (place === "summary" ? areSummariesFree : place === "turn" && !isCounted))
        .flatMap(({ row }) =>
          Array.from(
            { length: eventCount(replyOf(scenario, row)) },
            (_, index): Site => ({
              kind: "stream",
              row,
              afterEvents: index + 1,
            }),
          ),
        );
    case "tool":
    case "tool hook":
      return effects.flatMap(({ row }): Site[] => {
        const isWrong = (name: string) =>
          scenario.tools.find((tool) => tool.name === name)?.does.kind === "throws";
        // A tool that throws already has nothing right about it that could be wrong.
        if (row.kind !== "tool" || (kind.place === "tool" && isWrong(row.tool))) return [];
        return [{ kind: "call", tool: row.tool, callId: row.callId }];
      });
    case "hook":
    case "listener":
    case "clock":
      return [];
    default:
      return absurd(kind, "kind of fault");
  }
}

/**
 * Whether a later call counts on the answers: it names one of them, there must be enough of them to be compacted, or it is
 * made while the run waits because one failed. With another answer such a call has no place to go to, and what is looked
 * at would be the scenario.
 */
function isCountedOn({ stimuli, meanwhile }: Scenario): boolean {
  return stimuli.some(isStructural) || (meanwhile ?? []).some((call) => "retryOf" in call.while);
}

/** Whether a later call counts on being refused, because what was to be summarized has been. */
function countsOnSummaries({ stimuli }: Scenario): boolean {
  return stimuli.some((call) => isStructural(call) && call.refused !== undefined);
}

/** The scenario with the fault at that site. */
export function derive(kind: WorldFaultKind, scenario: Scenario, site: Site): Scenario {
  switch (kind.place) {
    case "reply": {
      const { row } = asReply(site);
      const faulty = withFault(scenario, row, kind.fault, kind.keepsUsage === true);
      return kind.fault.kind === "hangs" ? cancelled(faulty, momentOf(row)) : faulty;
    }
    case "stream": {
      if (site.kind !== "stream") throw new Error("a stream breaks off at one of its events");
      const { row, afterEvents } = site;
      const fault: ReplyFault = { kind: "breaks off", afterEvents, how: kind.how };
      return withFault(scenario, row, fault, kind.how === "pending");
    }
    case "restart": {
      const { row } = asReply(site);
      return withReply(scenario, row, (reply) => [{ ...reply, afterRestart: otherwise(reply) }]);
    }
    case "tool": {
      const { tool, callId } = asCall(site);
      const usage = scenario.tools.find(({ name }) => name === tool)?.does;
      const costs = usage?.kind === "answers" && kind.keepsUsage ? usage.usage : undefined;
      const fault = { ...kind.fault, ...(costs === undefined ? {} : { reports: costs }) };
      const tools = scenario.tools.map((one) =>
        one.name === tool ? { ...one, faults: { ...one.faults, [callId]: fault } } : one,
      );
      const faulty = { ...scenario, tools };
      return kind.fault.kind === "hangs" ? cancelled(faulty, { tool: callId }) : faulty;
    }
    case "tool hook":
      return { ...scenario, failingToolHook: { call: asCall(site).callId, how: kind.how } };
    case "hook":
    case "listener":
    case "clock":
      return scenario;
    default:
      return absurd(kind, "kind of fault");
  }
}

/** The scenario in which the model says from the beginning what it says after a restart. */
export function asAfterRestart(scenario: Scenario): Scenario {
  const turns = scenario.turns.map((replies) => replies.map((reply) => reply.afterRestart ?? reply));
  return { ...scenario, turns };
}

const POLL_LABEL = "provider.poll";

function asReply(site: Site): Extract<Site, { kind: "reply" }> {
  if (site.kind !== "reply") throw new Error("a fault of an answer needs a request");
  return site;
}

function asCall(site: Site): Extract<Site, { kind: "call" }> {
  if (site.kind !== "call") throw new Error("a fault of a tool needs a call");
  return site;
}

function replyOf(scenario: Scenario, row: Row): ScriptedReply | undefined {
  return row.kind === "summary" ? summaryReply(scenario, row) : turnReply(scenario, row, 0);
}

/** The faulty answer takes the place of the right one, which comes at the next ask. */
function withFault(scenario: Scenario, row: Row, fault: ReplyFault, keepsUsage: boolean): Scenario {
  return withReply(scenario, row, (reply) => {
    const usage = keepsUsage ? reply.usage : { input: 0, output: 0 };
    return [{ ...reply, usage, fault }, reply];
  });
}

function withReply(
  scenario: Scenario,
  row: Row,
  change: (reply: ScriptedReply) => readonly ScriptedReply[],
): Scenario {
  const reply = replyOf(scenario, row);
  if (reply === undefined) return scenario;
  const replaced = (replies: readonly ScriptedReply[], index: number) => [
    ...Array.from({ length: index }, (_, at) => replies[Math.min(at, replies.length - 1)] as ScriptedReply),
    ...change(reply),
    ...replies.slice(index + 1),
  ];
  if (row.kind === "request") {
    const turns = scenario.turns.map((replies, turn) =>
      turn === row.turn ? replaced(replies, row.ask - 1) : replies,
    );
    return { ...scenario, turns };
  }
  const summaries = (scenario.summaries ?? []).map((requests, task) =>
    task !== row.task || requests === null
      ? requests
      : requests.map((replies, index) =>
          index === row.index ? replaced(replies, row.attempt - 1) : replies,
        ),
  );
  return { ...scenario, summaries };
}

function otherwise(reply: ScriptedReply): ScriptedReply {
  const { input, output } = reply.usage;
  return {
    ...reply,
    text: `${reply.text ?? ""} Or otherwise.`.trim(),
    usage: { input: input + 1, output: output + 3 },
  };
}

/** The application cancels what does not answer. */
function cancelled(scenario: Scenario, moment: Moment): Scenario {
  return { ...scenario, meanwhile: [...(scenario.meanwhile ?? []), { while: moment, call: "abort" }] };
}

function momentOf(row: Row): Moment {
  return row.kind === "summary"
    ? { summary: row.task, request: row.index }
    : { turn: row.turn, ask: row.ask };
}

/** How many events a stream of an answer has before its last: one to begin with, three for each block. */
function eventCount(reply: ScriptedReply | undefined): number {
  if (reply === undefined) return 0;
  return 1 + 3 * ((reply.text === undefined ? 0 : 1) + (reply.toolCalls?.length ?? 0));
}
