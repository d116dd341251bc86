/**
 * From a plan to its scenario: puts texts, ids, costs and moments to what was drawn.
 *
 * Invariants.
 * 1. Every plan has one scenario, and it keeps the rules of `Scenario`: no text twice, a last answer to every turn.
 * 2. No run ever asks for more than is scripted: after the turns of the plan come plain answers, as many as any run of it
 *    can ask for.
 */
import type {
  LaneScript,
  MeanwhileCall,
  Moment,
  Scenario,
  ScriptedCall,
  ScriptedReply,
  ScriptedTool,
  Stimulus,
} from "../../faults/index.ts";
import { absurd } from "../../foundation/index.ts";
import type { ActPlan, CasePlan, MeanwhilePlan, SummaryPlan, ToolPlan, TurnPlan } from "./plan.ts";

/** The scenario of a plan, under a name. */
export function scenarioOf(plan: CasePlan, name: string): Scenario {
  const { settings, goesOn, summaries } = plan;
  const tools = plan.tools.map(toolOf);
  const main = new Script("", tools).of(plan.acts);
  const lanes = plan.lanes.map((acts, index): LaneScript => {
    const lane = `lane-${index + 1}`;
    return { lane, ...new Script(`${lane} `, tools).of(acts) };
  });
  const hasDecisions = summaries.some(({ decision }) => decision !== "none");
  const isDeferring = [main, ...lanes].some(({ turns }) =>
    turns.flat().some(({ stopReason }) => stopReason === "deferred"),
  );
  return {
    name,
    title: "a generated workload",
    isGenerated: true,
    settings: {
      toolExecution: settings.parallelTools ? "parallel" : "sequential",
      steeringMode: settings.steersAll ? "all" : "one-at-a-time",
      followUpMode: settings.followsUpAll ? "all" : "one-at-a-time",
      retry: { enabled: settings.retriesMax > 0, maxRetries: settings.retriesMax, baseDelayMs: 1000 },
      compaction: { enabled: settings.isTight, reserveTokens: 100, keepRecentTokens: 1 },
      ...(isDeferring ? { deferred: { window: "1h" } } : {}),
      ...(settings.isTight ? { contextWindow: WINDOW_TOKENS } : {}),
    },
    tools,
    turns: main.turns,
    summaries: Array.from({ length: WORKS_MAX }, (_, work) => summaryOf(summaries[work], work)),
    ...(hasDecisions ? { decisions: summaries.map(decisionOf) } : {}),
    ...(goesOn ? { runEnd: "one more thing" } : {}),
    stimuli: main.stimuli,
    meanwhile: [...main.meanwhile, ...summaries.flatMap(meanwhileOfWork)],
    ...(lanes.length === 0 ? {} : { lanes }),
  };
}

const WINDOW_TOKENS = 1000;
/** More works on the tree than any run of a plan comes to. */
const WORKS_MAX = 24;
/** More turns than any run of a plan takes after the scripted ones: each message that is said asks for at most one. */
const PLAIN_TURNS = 40;

/** One lane's part of a scenario, as it is written. */
class Script {
  readonly #prefix: string;
  readonly #tools: readonly ScriptedTool[];
  readonly #turns: (readonly ScriptedReply[])[] = [];
  readonly #stimuli: Stimulus[] = [];
  readonly #meanwhile: MeanwhileCall[] = [];
  /** What was said, and may be taken back or moved to. */
  readonly #said: string[] = [];
  #count = 0;

  /** @param prefix begins each text and id, so that no two lanes share one. */
  constructor(prefix: string, tools: readonly ScriptedTool[]) {
    this.#prefix = prefix;
    this.#tools = tools;
  }

  of(acts: readonly ActPlan[]) {
    for (const act of acts) this.#act(act);
    // That something was taken back shows only in what follows it.
    if (this.#stimuli.at(-1)?.call === "cancelQueued") {
      this.#stimuli.push({ call: "prompt", text: this.#say("prompt") });
    }
    for (let count = 0; count < PLAIN_TURNS; count++) {
      this.#turns.push([{ text: this.#next("plain"), stopReason: "stop", usage: { input: 30, output: 2 } }]);
    }
    return { turns: this.#turns, stimuli: this.#stimuli, meanwhile: this.#meanwhile };
  }

  #act(act: ActPlan): void {
    switch (act.act) {
      case "prompt":
        this.#stimuli.push({ call: "prompt", text: this.#say("prompt") });
        act.turns.forEach((turn, index) => {
          this.#turn(turn, index < act.turns.length - 1);
        });
        return;
      case "say":
        this.#stimuli.push({ call: act.call, text: this.#say(act.call) });
        return;
      case "withdraw":
        if (this.#said.length > 0)
          this.#stimuli.push({ call: "cancelQueued", text: this.#pick(act.which, this.#said) });
        return;
      case "note":
        this.#note(act.call);
        return;
      case "compact":
        if (!this.#followsWork()) this.#stimuli.push({ call: "compact", mayBeRefused: true });
        return;
      case "navigate": {
        if (this.#followsWork()) return;
        const to = this.#pick(act.which, [...this.#said, null]);
        const options = act.summarize ? { summarize: true as const } : {};
        this.#stimuli.push({ call: "navigateTree", to, mayBeRefused: true, ...options });
        return;
      }
      default:
        absurd(act, "act");
    }
  }

  /**
   * After a restart, works in a row are told apart by the lane's last operation alone, so there is one in a row; and that
   * something was taken back before them shows nowhere.
   */
  #followsWork(): boolean {
    const last = this.#stimuli.at(-1);
    return last === undefined || ["compact", "navigateTree", "cancelQueued"].includes(last.call);
  }

  /** Each kind once: what is noted again is not to be told from what was noted. */
  #note(call: "setThinkingLevel" | "setName" | "recordUsage"): void {
    if (this.#stimuli.some((stimulus) => stimulus.call === call)) return;
    if (call === "setThinkingLevel") this.#stimuli.push({ call, level: "high" });
    else if (call === "setName") this.#stimuli.push({ call, name: "a name" });
    else this.#stimuli.push({ call, usage: { input: 5, output: 5 } });
  }

  /** A turn; one that is followed by another in its plan calls a tool, or the run would end. */
  #turn(plan: TurnPlan, isFollowed: boolean): void {
    const turn = this.#turns.length;
    const input = plan.isLarge ? WINDOW_TOKENS - 50 : 10 + turn;
    const job = { id: this.#next("job"), takesMs: 500 };
    const first = plan.first.map((kind, index): ScriptedReply => {
      // Each costs something else, so that a cost that is booked twice or in the wrong place is seen.
      const usage = { input: input + index + 1, output: 0 };
      switch (kind) {
        case "busy":
          return { stopReason: "error", errorMessage: "503 service unavailable", usage };
        case "refused":
          return { stopReason: "error", errorMessage: "400 invalid request", usage };
        case "overflow":
          return { stopReason: "error", errorMessage: OVERFLOW, usage: { input: 0, output: 0 } };
        case "deferred":
          return { stopReason: "deferred", job, usage };
        case "mismatched":
          return { stopReason: "deferred", job: { ...job, id: `${job.id} of another` }, usage };
        default:
          return absurd(kind, "failure");
      }
    });
    const wanted = plan.calls.length === 0 && isFollowed ? [0] : plan.calls;
    const toolCalls = plan.answer === "error" ? [] : wanted.map((which) => this.#call(which));
    this.#turns.push([...first, this.#answer(plan, toolCalls, { input, output: 3 + turn })]);
    for (const call of plan.meanwhile) {
      this.#meanwhile.push(...this.#meanwhileCall(call, momentsOf(plan, turn, toolCalls)));
    }
  }

  #answer(
    { answer }: TurnPlan,
    toolCalls: readonly ScriptedCall[],
    usage: ScriptedReply["usage"],
  ): ScriptedReply {
    if (answer === "error") return { stopReason: "error", errorMessage: "502 bad gateway", usage };
    const text = this.#next("answer");
    if (answer === "length")
      return { text, stopReason: "length", toolCalls, usage: { ...usage, output: 8192 } };
    if (toolCalls.length === 0) return { text, stopReason: "stop", usage };
    return { text, stopReason: "toolUse", toolCalls, usage };
  }

  #call(which: number): ScriptedCall {
    const tool = this.#pick(which, this.#tools);
    return { id: this.#next("call").replaceAll(" ", "-"), name: tool.name, arguments: { n: this.#count } };
  }

  #meanwhileCall({ call, when, which }: MeanwhilePlan, moments: readonly Moment[]): readonly MeanwhileCall[] {
    const moment = this.#pick(when, moments);
    if (call === "abort") return [{ while: moment, call }];
    if (call === "withdraw") {
      if (this.#said.length === 0) return [];
      return [{ while: moment, call: "cancelQueued", text: this.#pick(which, this.#said) }];
    }
    return [{ while: moment, call, text: this.#say(call) }];
  }

  #say(what: string): string {
    // A character of several bytes, in the middle of which a line can be torn.
    const text = `${this.#next(what)} ✓`;
    this.#said.push(text);
    return text;
  }

  #next(what: string): string {
    this.#count++;
    return `${this.#prefix}${what} ${this.#count}`;
  }

  #pick<T>(which: number, from: readonly T[]): T {
    return from[which % from.length] as T;
  }
}

const OVERFLOW = "prompt is too long: 212 tokens > 200 maximum";

/** The moments of a turn at which something can be called meanwhile. */
function momentsOf({ first }: TurnPlan, turn: number, calls: readonly ScriptedCall[]): readonly Moment[] {
  const asks = [...first, "answer"].map((_, index): Moment => ({ turn, ask: index + 1 }));
  const waits = first.flatMap((kind, index): Moment[] => {
    if (kind === "busy") return [{ retryOf: turn, ask: index + 1 }];
    return kind === "deferred" || kind === "mismatched" ? [{ suspendedAt: turn }] : [];
  });
  return [...asks.reverse(), ...calls.map(({ id }): Moment => ({ tool: id })), ...waits];
}

function toolOf({ replay, does, isRedeployed }: ToolPlan, index: number): ScriptedTool {
  const other = replay === "safe" ? "never" : "safe";
  return {
    name: `tool-${index + 1}`,
    replay,
    ...(isRedeployed ? { replayAfterRestart: other } : {}),
    ...(does === "requires" ? { requires: ["absent"] } : {}),
    does:
      does === "throws"
        ? { kind: "throws", message: `tool ${index + 1} failed` }
        : {
            kind: "answers",
            text: `did {arguments} ${index + 1}`,
            ...(does === "ends" ? { terminate: true } : {}),
            ...(does === "costs" ? { usage: { input: 7, output: index } } : {}),
          },
  };
}

/** Two requests of a summary; failures come before the first one's answer. */
function summaryOf(plan: SummaryPlan | undefined, work: number): readonly (readonly ScriptedReply[])[] {
  const failures = Array.from(
    { length: plan?.failures ?? 0 },
    (_, index): ScriptedReply => ({
      stopReason: "error",
      errorMessage: "503 service unavailable",
      usage: { input: 3 + index, output: 0 },
    }),
  );
  const answer = (request: number): ScriptedReply => ({
    text: `summary ${work + 1}, part ${request + 1}`,
    stopReason: "stop",
    usage: { input: 40 + work, output: 4 + request },
  });
  return [[...failures, answer(0)], [answer(1)]];
}

function decisionOf({ decision }: SummaryPlan, work: number) {
  if (decision === "none") return null;
  if (decision === "decline") return { kind: "decline" } as const;
  return { kind: "supply", summary: `supplied ${work + 1}`, usage: { input: 2, output: work } } as const;
}

/** What is said while work on the tree is under way. */
function meanwhileOfWork({ meanwhile, decision }: SummaryPlan, work: number): MeanwhileCall[] {
  return meanwhile.flatMap(({ call, when }): MeanwhileCall[] => {
    const moment: Moment = decision !== "none" && when % 2 === 1 ? { decision: work } : { summary: work };
    if (call === "abort") return [{ while: moment, call }];
    // What could be taken back is known of turns only; and what is to be written waits for the work, which waits for it.
    if (call === "withdraw" || call === "appendMessage" || call === "appendCustom") return [];
    return [{ while: moment, call, text: `${call} during work ${work + 1}` }];
  });
}
