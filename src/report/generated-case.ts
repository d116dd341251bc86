/** A generated case, for a reader: what was drawn, a member a line, and what befalls it, a fault a line. */
import type { Scenario } from "../faults/index.ts";

/** What a reader sees of it. */
export interface GeneratedCase {
  readonly scenario: Scenario;
  readonly faults: readonly object[];
}

/** The report as text, ending with a line feed. */
export function generatedCaseReport({ scenario, faults }: GeneratedCase): string {
  const { settings, tools, runEnd, decisions, lanes = [] } = scenario;
  const lines = [
    `settings ${JSON.stringify(settings)}`,
    ...tools.map((tool) => `tool ${JSON.stringify(tool)}`),
    ...(decisions ?? []).map((decision, work) => `decision on work ${work} ${JSON.stringify(decision)}`),
    ...(runEnd === undefined ? [] : [`at the end of a run ${JSON.stringify(runEnd)}`]),
    ...scriptLines("main", scenario),
    ...lanes.flatMap((script) => scriptLines(script.lane, script)),
    ...faults.map((fault) => `fault ${JSON.stringify(fault)}`),
  ];
  return `${lines.join("\n")}\n`;
}

function scriptLines(
  lane: string,
  { stimuli, meanwhile = [], turns }: Pick<Scenario, "stimuli" | "meanwhile" | "turns">,
) {
  const plainFrom = turns.findLastIndex((replies) => !isPlain(replies)) + 1;
  return [
    ...stimuli.map((call) => `${lane} does ${JSON.stringify(call)}`),
    ...meanwhile.map(({ while: moment, ...call }) => {
      return `${lane} while ${JSON.stringify(moment)} ${JSON.stringify(call)}`;
    }),
    ...turns.slice(0, plainFrom).map((replies, turn) => `${lane} turn ${turn} ${JSON.stringify(replies)}`),
  ];
}

/** One answer and no more: any turn that is not written is like it. */
function isPlain([first, ...more]: Scenario["turns"][number]): boolean {
  return more.length === 0 && first?.stopReason === "stop" && first.toolCalls === undefined;
}
