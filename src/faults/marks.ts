/**
 * Marks: the events of a timeline as short texts, so that an order of events is a list of texts.
 *
 * `commit LABEL`, `refused LABEL`, `effect LABEL`, `call NAME`, `answer NAME TEXT`, `asked HOOK`, `boot N`. What is no part of an order has
 * no mark.
 */
import type { TimelineEvent } from "./timeline.ts";

/** The mark of an event; undefined for one that has none. */
export function markOf(event: TimelineEvent): string | undefined {
  switch (event.kind) {
    case "commit":
      return `commit ${event.boundary.label}`;
    case "effect":
    case "timer":
      return `effect ${event.boundary.label}`;
    case "call":
      return `call ${event.name}`;
    case "asked":
      return `asked ${event.name}`;
    case "answer":
      return `answer ${event.name} ${event.text}`;
    case "boot":
      return `boot ${event.incarnation}`;
    case "commit-failed":
      return `refused ${event.boundary.label}`;
    case "fault":
    case "crash":
      return undefined;
  }
}

/** The first of the wanted marks that the events do not have after those before it; undefined: they prove the order. */
export function firstUnproven(
  wanted: readonly string[],
  events: readonly TimelineEvent[],
): string | undefined {
  return wanted[provenCount(wanted, events)];
}

/** How many of the wanted marks the events have, one after another. */
export function provenCount(wanted: readonly string[], events: readonly TimelineEvent[]): number {
  let next = 0;
  for (const event of events) {
    const pattern = wanted[next];
    const mark = markOf(event);
    if (pattern !== undefined && mark !== undefined && isOf(pattern, mark)) next++;
  }
  return next;
}

function isOf(pattern: string, mark: string): boolean {
  return pattern.endsWith("*") ? mark.startsWith(pattern.slice(0, -1)) : mark === pattern;
}
