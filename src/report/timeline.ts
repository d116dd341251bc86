/** The timeline of one run, as text: what `repro` prints, a line an event. */
import { boundaryName, type TimelineEvent } from "../faults/index.ts";
import { absurd } from "../foundation/index.ts";

/** One line for each event, in order. */
export function timelineReport(events: readonly TimelineEvent[]): string {
  return events.map((event, index) => `${String(index + 1).padStart(4)}  ${line(event)}\n`).join("");
}

function line(event: TimelineEvent): string {
  switch (event.kind) {
    case "boot":
      return event.incarnation === 0 ? "boot" : `boot again (life ${event.incarnation + 1})`;
    case "commit":
      return `commit  ${boundaryName(event.boundary)}`;
    case "commit-failed":
      return `commit  ${boundaryName(event.boundary)}  FAILED: ${event.error}`;
    case "effect":
      return `effect  ${boundaryName(event.boundary)}  ${describeRow(event.row)}`;
    case "timer":
      return `timer   ${boundaryName(event.boundary)}  ${event.delayMs} ms`;
    case "call":
      return `call    ${event.name}`;
    case "asked":
      return `hook    ${event.name}`;
    case "answer":
      return `answer  ${event.name}  ${event.text}`;
    case "fault":
      return `FAULT   ${event.name}`;
    case "crash":
      return `CRASH   ${event.at}`;
    default:
      return absurd(event, "event");
  }
}

function describeRow(row: Extract<TimelineEvent, { kind: "effect" }>["row"]): string {
  switch (row.kind) {
    case "request":
      return `turn ${row.turn}, ask ${row.ask}`;
    case "summary":
      return `summary ${row.task}, request ${row.index}, attempt ${row.attempt}`;
    case "decision":
      return `work ${row.task}`;
    case "tool":
      return `${row.tool} ${row.callId} ${row.argumentsText}`;
    case "cancellation":
      return `job ${row.job}`;
    default:
      return absurd(row, "row");
  }
}
