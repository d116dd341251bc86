/**
 * Effects of the model: what the world did is what the workload allows, and what it charged is booked.
 *
 * 1. A call of a tool that is never to be repeated, whatever version of it is deployed, runs at most once.
 * 2. Nothing is booked that was not charged; and what is not booked is at most what was under way when a life ended: one
 *    request of each lane, or a batch of calls. What a hook supplied for work that was then cancelled is no cost of it.
 */
import type { Scenario, WorldRow } from "../../../faults/index.ts";
import { lanesOf } from "./messages.ts";
import type { CaseHistory, ModelFault } from "./reference-model.ts";

/** What does not hold of effects and costs. */
export function effectFaults(history: CaseHistory): readonly ModelFault[] {
  return [...repeatedCalls(history), ...costFaults(history)];
}

function repeatedCalls({ scenario, rows }: CaseHistory): readonly ModelFault[] {
  const runs = new Map<string, number>();
  for (const row of rows) {
    if (row.kind !== "tool" || !isNever(scenario, row.tool)) continue;
    runs.set(row.callId, (runs.get(row.callId) ?? 0) + 1);
  }
  return [...runs].flatMap(([callId, count]) => {
    if (count === 1) return [];
    const message = `${callId} is never to be repeated, and ran ${count} times`;
    return [{ signature: "a call that is never to be repeated ran again", message }];
  });
}

function isNever({ tools }: Scenario, name: string): boolean {
  const tool = tools.find((one) => one.name === name);
  return tool?.replay === "never" && (tool.replayAfterRestart ?? "never") === "never";
}

function costFaults({ scenario, lives, rows, end }: CaseHistory): readonly ModelFault[] {
  const charges = rows.map((row) => chargeOf(row, scenario)).filter((charge) => charge > 0);
  const charged = charges.reduce((sum, charge) => sum + charge, 0);
  const { input, output, bookings } = end.spent;
  const booked = input + output;
  if (booked > charged || bookings > charges.length) {
    const message = `${booked} tokens are booked in ${bookings} rows; ${charged} were charged, in ${charges.length}`;
    return [{ signature: "more is booked than was charged", message }];
  }
  const suppliedCount = rows.filter(({ kind }) => kind === "decision").length;
  const lostMax = (lives.length - 1) * (lanesOf(scenario).length - 1 + UNDER_WAY_MAX) + suppliedCount;
  if (charges.length - bookings <= lostMax) return [];
  const message = `${charges.length} charges, ${bookings} booked; ${lives.length - 1} deaths explain ${lostMax} at most`;
  return [{ signature: "more was lost than was under way", message }];
}

/** A summary is two requests of one attempt, and a batch has at most so many calls. */
const UNDER_WAY_MAX = 3;

function chargeOf(row: WorldRow, { tools }: Scenario): number {
  switch (row.kind) {
    case "request":
    case "summary":
      return row.usage.input + row.usage.output;
    case "decision":
      return row.usage === undefined ? 0 : row.usage.input + row.usage.output;
    case "cancellation":
      return 0;
    case "tool": {
      const does = tools.find(({ name }) => name === row.tool)?.does;
      if (does?.kind !== "answers" || does.usage === undefined) return 0;
      return does.usage.input + does.usage.output;
    }
  }
}
