/** Puts a history before the judge, whole or one checker at a time; for tests. */
import type { Scenario, ScriptedTool, TimelineEvent } from "../../faults/index.ts";
import type { Write } from "../../model/index.ts";
import type { Violation } from "../checker.ts";
import { HARNESS_CHECKS, startHarnessJudge } from "../judge.ts";
import type { History } from "./history.ts";

const tool = (name: string, replay: "never" | "safe", rest: Partial<ScriptedTool> = {}): ScriptedTool => ({
  name,
  replay,
  does: { kind: "answers", text: "result" },
  ...rest,
});

/** The scenario that the histories of `history.ts` are runs of. */
export const SCENARIO: Scenario = {
  name: "two-tools",
  title: "two tools",
  settings: {},
  tools: [
    tool("read", "safe", { does: { kind: "answers", text: "result", usage: { input: 1, output: 1 } } }),
    tool("delete", "never"),
    tool("free", "safe"),
  ],
  turns: [],
  stimuli: [],
};

/** What the judge says of a history; `only` switches every other checker off. */
export function judged(history: History, only?: string, scenario = SCENARIO): readonly Violation[] {
  const off = HARNESS_CHECKS.map(({ name }) => name).filter((name) => only !== undefined && name !== only);
  const judge = startHarnessJudge({ scenario, off });
  for (const event of history.events) judge.observe(event);
  return judge.finish({ view: history.view(), rows: history.rows });
}

/** The signatures of what one checker says. */
export function signatures(history: History, only: string, scenario = SCENARIO): readonly string[] {
  return judged(history, only, scenario).map(({ signature }) => signature);
}

/** The same history with the writes of its last commit of a label changed, as they were confirmed. */
export function withWrites(
  history: History,
  label: string,
  edit: (writes: readonly Write[]) => readonly Write[],
): History {
  const step = history.steps.findLast((candidate) => candidate.label === label);
  if (step === undefined) throw new Error(`the history has no ${label}`);
  const event = history.events[step.at];
  if (event?.kind !== "commit") throw new Error("not a commit");
  const changed = history.fork();
  changed.events[step.at] = {
    ...event,
    payload: { ...(event.payload as object), writes: edit(step.writes) },
  };
  return changed;
}

/** The same history with one event changed, repeated or left out. */
export function withEvents(
  history: History,
  edit: (event: TimelineEvent) => TimelineEvent | readonly TimelineEvent[],
): History {
  const changed = history.fork();
  changed.events.splice(0, changed.events.length, ...history.events.flatMap(edit));
  return changed;
}
