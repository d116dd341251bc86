/**
 * A scenario: a workload as data (design: "Scenario"). JSON-safe, so that a trace can embed it whole.
 *
 * It fixes everything a run depends on beside the subject and the fault: what is asked, what the model answers, what
 * the tools do, and the settings under which the runtime is built. `scenarios/` holds them, one a file.
 */
import type { JsonValue } from "../foundation/index.ts";
import type { ScheduledCall } from "./race.ts";
import type { HookFault, ReplyFault, ToolFault } from "./world-fault.ts";

/** A workload. `name` is its id on the command line. */
export interface Scenario {
  readonly name: string;
  /** One sentence: what happens. */
  readonly title: string;
  /** It was drawn, and nobody derived what its work on the tree comes to: its summaries are answers to what may be asked. */
  readonly isGenerated?: true;
  readonly settings: ScenarioSettings;
  readonly tools: readonly ScriptedTool[];
  /**
   * What the model answers, by turn: `turns[n]` answers a request whose context holds n settled assistant messages of
   * the run. Each turn lists the answers to its first, second, … ask (a failed answer is asked again, a deferred one is
   * polled, a cancelled one is asked by the next run); the last one answers every later ask.
   */
  readonly turns: readonly (readonly ScriptedReply[])[];
  /**
   * What the model answers where it is asked for a summary: `summaries[n]` is for work that begins while the session
   * holds n compactions and branch summaries. It lists the answers to the first and the second request of an attempt,
   * by attempt; the last one answers every later attempt. Absent for work that comes to no request, also because there
   * is nothing to compact.
   */
  readonly summaries?: readonly (readonly (readonly ScriptedReply[])[] | null)[];
  /** What the application's decision hook says of the same work; null and absent: nothing. */
  readonly decisions?: readonly (ScriptedDecision | null)[];
  /** What the application's hook asks for when a run is about to end, once: it goes on with this message. */
  readonly runEnd?: string;
  /** A hook of the application fails whenever it is asked before this call runs, by the provider's id of it. */
  readonly failingToolHook?: { readonly call: string; readonly how: HookFault };
  /** What the application does, in order. Each starts when the one before it is done. */
  readonly stimuli: readonly Stimulus[];
  /** What it does meanwhile, while something of the world is under way. Those of one moment are made in order. */
  readonly meanwhile?: readonly MeanwhileCall[];
  /** What it does at moments of a life that is driven by hand; for races. */
  readonly schedule?: readonly ScheduledCall[];
  /** What the application's hooks make of the text of each response, and of each result of a tool. */
  readonly rewrites?: { readonly response?: string; readonly result?: string };
  /**
   * Further lanes, each at the root, and what goes on in them while all that goes on in the first one. A scenario that has
   * some comes to no work on a tree: what the script counts of that, it counts over all lanes.
   */
  readonly lanes?: readonly LaneScript[];
}

/** What is asked, answered and said in one lane; see {@link Scenario}. No two lanes share a text, or an id of a call. */
export interface LaneScript extends Pick<Scenario, "turns" | "stimuli" | "meanwhile"> {
  readonly lane: string;
}

/** What the model answers in a lane, by turn; the first lane has no name here. */
export function turnsOf({ turns, lanes }: Scenario, lane: string | undefined): Scenario["turns"] {
  return lane === undefined ? turns : (lanes?.find((script) => script.lane === lane)?.turns ?? []);
}

/** Settings that every system understands or may ignore, with its specification's defaults where absent. */
export interface ScenarioSettings {
  readonly toolExecution?: "sequential" | "parallel";
  /** How many queued items one checkpoint takes; see `QueueMode` of the model. */
  readonly steeringMode?: "all" | "one-at-a-time";
  readonly followUpMode?: "all" | "one-at-a-time";
  /** Retries of a provider request, as the public policy: attempts = `maxRetries` + 1 when enabled. */
  readonly retry?: { readonly enabled: boolean; readonly maxRetries: number; readonly baseDelayMs: number };
  /** Asks the provider to answer later, within this window. */
  readonly deferred?: { readonly window: "15m" | "1h" | "24h" };
  /** When and how far a context is compacted, in tokens. */
  readonly compaction?: {
    readonly enabled: boolean;
    readonly reserveTokens: number;
    readonly keepRecentTokens: number;
  };
  /** Of the model, in tokens; see {@link MODEL_LIMITS}. */
  readonly contextWindow?: number;
}

/** Limits of the scripted model, in tokens, where a scenario says nothing else. */
export const MODEL_LIMITS = { contextWindow: 1_000_000, outputTokens: 8_192 };

/** What a scripted hook decides; what it supplies keeps the rest of the preparation. */
export type ScriptedDecision =
  | { readonly kind: "decline" }
  | { readonly kind: "supply"; readonly summary: string; readonly usage?: ScriptedUsage };

/**
 * What a caller does to the runtime from outside. Never gated. A message is known by its text, also after a restart, so
 * no two messages of a scenario share one.
 */
export type Stimulus =
  | { readonly call: "prompt"; readonly text: string }
  | QueueCall
  | StructuralCall
  | NotingCall;

/**
 * Calls that note something beside the conversation. Each is done once what it notes is durable, so no two of a scenario
 * note the same, and a lane is made after what else is noted: registers stand in the order of their last write.
 */
export type NotingCall =
  | { readonly call: "setThinkingLevel"; readonly level: "low" | "high" }
  | { readonly call: "setName"; readonly name: string }
  /** A lane at the root. */
  | { readonly call: "createLane"; readonly lane: string }
  /** Books a cost that no request of the world has caused. */
  | { readonly call: "recordUsage"; readonly usage: ScriptedUsage };

/** Whether a call notes something beside the conversation. */
export function isNoting(call: { readonly call: string }): call is NotingCall {
  return ["setThinkingLevel", "setName", "createLane", "recordUsage"].includes(call.call);
}

/**
 * Calls that work on the tree of an idle lane. Of two in a row that are accepted, only the second may navigate, and to
 * another place than the first: after a restart they are told apart by what the lane's last operation was.
 */
export type StructuralCall = {
  /** The tag of the error with which it is refused; absent: it is accepted. */
  readonly refused?: string;
  /** Whether it is accepted depends on what is not known beforehand: a generated scenario. Both are right. */
  readonly mayBeRefused?: true;
} & (
  | { readonly call: "compact"; readonly customInstructions?: string }
  | {
      readonly call: "navigateTree";
      /** The text of the message that is its target, whoever said it; null: the root. */
      readonly to: string | null;
      readonly summarize?: true;
      readonly label?: string;
      readonly customInstructions?: string;
    }
);

/** Whether a call works on the tree. */
export function isStructural(call: { readonly call: string }): call is StructuralCall {
  return call.call === "compact" || call.call === "navigateTree";
}

/** Calls that say something to a lane, or take it back: `cancelQueued` names what was said. */
export interface QueueCall {
  readonly call: "steer" | "followUp" | "nextRun" | "cancelQueued" | "appendMessage" | "appendCustom";
  readonly text: string;
}

/**
 * A call that the application makes while an effect is under way: the effect has happened, its answer waits until the
 * call is answered. After a restart the application knows only what is durable: it makes the call again when its moment
 * comes again, unless the effect of the call is durable already.
 */
export type MeanwhileCall = { readonly while: Moment } & (QueueCall | { readonly call: "abort" });

/** When: while something of the world is under way. Asks count from 1; without one, the first is meant. */
export type Moment =
  /** The model answers an ask of a turn. */
  | { readonly turn: number; readonly ask?: number }
  /** The run waits because this ask of a turn failed; it is told when the wait is over. */
  | { readonly retryOf: number; readonly ask?: number }
  /** The model answers a request for a summary, the first of an attempt if none is named; work as in `summaries`. */
  | { readonly summary: number; readonly request?: number }
  /** A hook decides on work. */
  | { readonly decision: number }
  /** The run is suspended because the answer of a turn is put off, before the application resumes it. */
  | { readonly suspendedAt: number }
  /** A tool runs for a call, by the provider's id of it. */
  | { readonly tool: string };

/** The calls of a moment, in order. */
export function callsAt(
  { meanwhile }: Pick<Scenario, "meanwhile">,
  moment: Moment,
): readonly MeanwhileCall[] {
  return (meanwhile ?? []).filter((call) => isSameMoment(call.while, moment));
}

function isSameMoment(one: Moment, other: Moment): boolean {
  if ("tool" in one) return "tool" in other && one.tool === other.tool;
  if ("suspendedAt" in one) return "suspendedAt" in other && one.suspendedAt === other.suspendedAt;
  if ("decision" in one) return "decision" in other && one.decision === other.decision;
  if ("summary" in one) {
    return "summary" in other && one.summary === other.summary && (one.request ?? 0) === (other.request ?? 0);
  }
  if ("turn" in one) {
    return "turn" in other && one.turn === other.turn && (one.ask ?? 1) === (other.ask ?? 1);
  }
  return "retryOf" in other && one.retryOf === other.retryOf && (one.ask ?? 1) === (other.ask ?? 1);
}

/** One answer of the scripted model. */
export interface ScriptedReply {
  /** What {@link filledIn} knows stands for what the request asked with. */
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedCall[];
  readonly stopReason: "stop" | "toolUse" | "length" | "error" | "deferred";
  /** Required with `error`. */
  readonly errorMessage?: string;
  /**
   * With `deferred`: the job whose handle is given, and how long it takes. A poll that is answered with another job than
   * the first answer named is answered wrongly.
   */
  readonly job?: { readonly id: string; readonly takesMs: number };
  readonly usage: ScriptedUsage;
  /** It is given wrongly. `usage` is then what can be understood of its cost. */
  readonly fault?: ReplyFault;
  /** What is said in its place by a model that is asked by a process that was restarted. */
  readonly afterRestart?: ScriptedReply;
}

/** What a request asked with, as far as an answer may say it. */
export interface AskedWith {
  readonly model: string;
  readonly thinking: string;
  readonly timeoutMs: number | undefined;
}

/** A text in which `{model}`, `{thinking}` and `{timeout}` stand for what the request asked with. */
export function filledIn(text: string, { model, thinking, timeoutMs }: AskedWith): string {
  return text
    .replaceAll("{model}", model)
    .replaceAll("{thinking}", thinking)
    .replaceAll("{timeout}", timeoutMs === undefined ? "none" : `${timeoutMs} ms`);
}

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: { readonly [key: string]: JsonValue };
  /**
   * What the model wrote, where that is not the JSON of the arguments. A system that is handed arguments as text is handed
   * this; the others are handed what a lenient reader makes of it, the arguments.
   */
  readonly argumentsText?: string;
}

/** Tokens of one request. Costs are derived: one millionth of a dollar a token, so that sums stay readable. */
export interface ScriptedUsage {
  readonly input: number;
  readonly output: number;
}

/** A tool of the scripted world. Its effect is a row in the world's effect ledger. */
export interface ScriptedTool {
  readonly name: string;
  /** What the tool declares: may it be run again with the same arguments? */
  readonly replay: "never" | "safe";
  /** What it declares in every life but the first, where that differs: another version was deployed in between. */
  readonly replayAfterRestart?: "never" | "safe";
  /** Each life prepares the arguments in its own way: the member `life`, a number from 0, is added to them. */
  readonly preparesByLife?: true;
  readonly executionMode?: "sequential" | "parallel";
  /** Arguments that must be present, as strings; everything else is allowed. */
  readonly requires?: readonly string[];
  readonly does: ScriptedToolBehaviour;
  /** Executions that end wrongly, by the provider's id of the call. */
  readonly faults?: { readonly [callId: string]: ToolFault };
}

export type ScriptedToolBehaviour =
  /** Answers a text; `{arguments}` in it stands for the canonical JSON of the arguments. */
  | {
      readonly kind: "answers";
      readonly text: string;
      readonly terminate?: true;
      readonly usage?: ScriptedUsage;
    }
  /** Answers a text of this many bytes. */
  | { readonly kind: "answersBytes"; readonly byteCount: number }
  /** The effect happens, then the tool throws. */
  | { readonly kind: "throws"; readonly message: string };

/** What a scripted tool declares in a life, counted from 0. */
export function declaredReplay({ replay, replayAfterRestart }: ScriptedTool, life: number): "never" | "safe" {
  return life === 0 ? replay : (replayAfterRestart ?? replay);
}

/** The answer to an ask of a turn, in a life, counted from 0; undefined if the scenario has no such turn. */
export function turnReply(
  scenario: Scenario,
  { turn, ask, lane }: { readonly turn: number; readonly ask: number; readonly lane?: string | undefined },
  life: number,
): ScriptedReply | undefined {
  const replies = turnsOf(scenario, lane)[turn];
  const reply = replies?.[Math.min(ask, replies.length) - 1];
  return life === 0 ? reply : (reply?.afterRestart ?? reply);
}
