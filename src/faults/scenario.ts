/**
 * A scenario: a workload as data (design: "Scenario"). JSON-safe, so that a trace can embed it whole.
 *
 * It fixes everything a run depends on beside the subject and the fault: what is asked, what the model answers, what
 * the tools do, and the settings under which the runtime is built. `scenarios/` holds them, one a file.
 */
import type { JsonValue } from "../foundation/index.ts";

/** A workload. `name` is its id on the command line. */
export interface Scenario {
  readonly name: string;
  /** One sentence: what happens. */
  readonly title: string;
  readonly settings: ScenarioSettings;
  readonly tools: readonly ScriptedTool[];
  /**
   * What the model answers, by turn: `turns[n]` answers a request whose context holds n settled assistant messages of
   * the run. Each turn lists the answers to its first, second, … ask (a failed answer is asked again); the last one
   * answers every later ask.
   */
  readonly turns: readonly (readonly ScriptedReply[])[];
  /** What the application does, in order. Each starts when the one before it is done. */
  readonly stimuli: readonly Stimulus[];
}

/** Settings that every system understands or may ignore, with its specification's defaults where absent. */
export interface ScenarioSettings {
  readonly toolExecution?: "sequential" | "parallel";
  /** Retries of a provider request, as the public policy: attempts = `maxRetries` + 1 when enabled. */
  readonly retry?: { readonly enabled: boolean; readonly maxRetries: number; readonly baseDelayMs: number };
}

/** What a caller does to the runtime from outside. Never gated. */
export type Stimulus = { readonly call: "prompt"; readonly text: string };

/** One answer of the scripted model. */
export interface ScriptedReply {
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedCall[];
  readonly stopReason: "stop" | "toolUse" | "length" | "error";
  /** Required with `error`. */
  readonly errorMessage?: string;
  readonly usage: ScriptedUsage;
}

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: { readonly [key: string]: JsonValue };
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
