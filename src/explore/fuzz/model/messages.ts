/**
 * Messages of the model: what was said is in one place, and stays.
 *
 * 1. No message is in two places: twice in the conversation, or there and waiting.
 * 2. What got a place keeps it. What was accepted is there at the end, and so is what waited when a life ended; unless the
 *    workload takes it back, or cancels the run that it waited for.
 * 3. What the application asks for in order is there at the end, and the prompts of a lane stand in their order.
 * 4. What was taken back, and not said again, is not there.
 * 5. Nobody says what the workload does not say, and nobody says it in another lane.
 */
import type { LaneScript, MeanwhileCall, Scenario, Stimulus } from "../../../faults/index.ts";
import type { Account } from "../../../subject/index.ts";
import type { CaseHistory, ModelFault } from "./reference-model.ts";

/** What does not hold of the messages. */
export function messageFaults(history: CaseHistory): readonly ModelFault[] {
  const { scenario, lives, end } = history;
  const scripts = lanesOf(scenario).map((script) => {
    return scriptOf(script, script.lane === FIRST_LANE ? scenario.runEnd : undefined);
  });
  const places = [...textsPlaced(end), ...end.waiting.map(({ text }) => text)];
  const faults = placeFaults(places, new Set(scripts.flatMap(({ texts }) => texts)));
  for (const [text, why] of owedBy(history, new Set(scripts.flatMap(({ revocable }) => revocable)))) {
    if (!places.includes(text)) faults.push(fault(`a message is lost: ${why}`, `${quoted(text)} is nowhere`));
  }
  for (const text of takenBack(lives)) {
    if (places.includes(text))
      faults.push(fault("a message that was taken back", `${quoted(text)} is there`));
  }
  for (const script of scripts) faults.push(...orderFaults(script, end), ...strangers(script, end));
  return faults;
}

/** The scripts of all lanes, the first one under its name. */
export function lanesOf({ turns, stimuli, meanwhile, lanes }: Scenario): readonly LaneScript[] {
  const first = { lane: FIRST_LANE, turns, stimuli, ...(meanwhile === undefined ? {} : { meanwhile }) };
  return [first, ...(lanes ?? [])];
}

const FIRST_LANE = "main";

interface Script {
  readonly lane: string;
  readonly prompts: readonly string[];
  /** All that users say in it. */
  readonly texts: readonly string[];
  /** Of these, what may be gone before it has a place. */
  readonly revocable: readonly string[];
  /** What the model says in it. */
  readonly answers: readonly string[];
}

function scriptOf({ lane, turns, stimuli, meanwhile = [] }: LaneScript, runEnd: string | undefined): Script {
  const calls: readonly (Stimulus | MeanwhileCall)[] = [...stimuli, ...meanwhile];
  const saying = calls.flatMap((call) => textOf(call) ?? []);
  const cancels = calls.some(({ call }) => call === "abort");
  const forRun = calls.flatMap((call) =>
    call.call === "steer" || call.call === "followUp" ? [call.text] : [],
  );
  const withdrawn = calls.flatMap((call) => (call.call === "cancelQueued" ? [call.text] : []));
  return {
    lane,
    prompts: stimuli.flatMap((call) => (call.call === "prompt" ? [call.text] : [])),
    texts: runEnd === undefined ? saying : [...saying, runEnd],
    revocable: [...withdrawn, ...(cancels ? forRun : [])],
    answers: turns.flat().flatMap(({ text }) => text ?? []),
  };
}

/** What a call says. */
function textOf(call: Stimulus | MeanwhileCall): string | undefined {
  switch (call.call) {
    case "prompt":
    case "steer":
    case "followUp":
    case "nextRun":
    case "appendMessage":
    case "appendCustom":
      return call.text;
    default:
      return undefined;
  }
}

function textsPlaced({ said }: Account): readonly string[] {
  return said.flatMap(({ by, text }) => (by === "user" || by === "note" ? [text] : []));
}

function placeFaults(places: readonly string[], known: ReadonlySet<string>): ModelFault[] {
  const counts = new Map<string, number>();
  for (const text of places) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].flatMap(([text, count]) => [
    ...(known.has(text) ? [] : [fault("a message that nobody said", `${quoted(text)} is there`)]),
    ...(count > 1 ? [fault("a message in two places", `${quoted(text)} is there ${count} times`)] : []),
  ]);
}

/** What must be there at the end, and why. */
function owedBy(
  { scenario, lives }: CaseHistory,
  revocable: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const owed = new Map<string, string>();
  const owe = (text: string, why: string) => {
    if (!revocable.has(text) && !owed.has(text)) owed.set(text, why);
  };
  for (const { told, left } of lives) {
    for (const { call, phase } of told) {
      const text = textOf(call);
      if (text !== undefined && phase === "done") owe(text, "it was accepted");
    }
    if (left === undefined) continue;
    for (const text of textsPlaced(left)) owed.set(text, owed.get(text) ?? "it had a place");
    for (const { text } of left.waiting) owe(text, "it waited");
  }
  for (const { stimuli } of lanesOf(scenario)) {
    for (const call of stimuli) {
      const text = textOf(call);
      if (text !== undefined) owe(text, "it was asked for");
    }
  }
  return owed;
}

/** Texts of which the last that was told is that they were taken back. */
function takenBack(lives: CaseHistory["lives"]): readonly string[] {
  const last = new Map<string, boolean>();
  for (const { call, phase } of lives.flatMap(({ told }) => told)) {
    if (call.call === "cancelQueued" && phase === "done") last.set(call.text, true);
    const text = textOf(call);
    if (text !== undefined) last.set(text, false);
  }
  return [...last].flatMap(([text, isTakenBack]) => (isTakenBack ? [text] : []));
}

function orderFaults({ lane, prompts }: Script, end: Account): readonly ModelFault[] {
  const found = textsPlaced(end).filter((text) => prompts.includes(text));
  const expected = prompts.filter((text) => found.includes(text));
  const at = expected.findIndex((text, index) => text !== found[index]);
  if (at < 0) return [];
  return [fault("prompts out of order", `${quoted(found[at])} of ${lane} is before ${quoted(expected[at])}`)];
}

function strangers({ lane, texts, answers }: Script, end: Account): readonly ModelFault[] {
  const own = new Set([...texts, ...answers, ""]);
  const held = new Set(end.lanes.find((one) => one.lane === lane)?.conversation);
  const said = end.said.filter(({ id, by }) => held.has(id) && by !== "tool" && by !== "summary");
  const waiting = end.waiting.filter((item) => item.lane === lane);
  return [...said, ...waiting].flatMap(({ text }) => {
    return own.has(text) ? [] : [fault("a message of another lane", `lane ${lane} holds ${quoted(text)}`)];
  });
}

function fault(signature: string, message: string): ModelFault {
  return { signature, message };
}

function quoted(text: string | undefined): string {
  return JSON.stringify(text);
}
