/**
 * The application over the harness: makes the calls of a scenario to one lane, in every life.
 *
 * It is the simplest correct one. After a restart it knows nothing but what is durable (`durable-calls.ts`): an operation
 * that is suspended is resumed, and what is done is not done again. A deferred job is resumed when its handle says that it
 * should be done, or at once if that is past, as often as it takes. A call that belongs to a moment of the world is made
 * when the moment comes, and again when the moment comes again, unless its effect is durable.
 *
 * In a race it makes further calls at moments of the drive (`racer.ts`), and takes every refusal for an answer.
 */
import {
  CALL_LABEL,
  callsAt,
  type Gate,
  isNoting,
  isStructural,
  type MeanwhileCall,
  type Moment,
  type NotingCall,
  type QueueCall,
  type RaceCall,
  type Scenario,
  type Stimulus,
  type StructuralCall,
  type Timeline,
} from "../../faults/index.ts";
import { absurd, type Clock } from "../../foundation/index.ts";
import {
  type AgentHarness,
  type AgentLane,
  type CompactionResult,
  HarnessClosed,
  type NavigationResult,
  type ResumeResult,
  type RunResult,
  type SuspendedOperation,
} from "../../harness/index.ts";
import type { DeferredHandle } from "../../model/index.ts";
import { MAIN_LANE, type Session } from "../../session/index.ts";
import type { SessionDump, Storage } from "../../storage/index.ts";
import type { CallOutcome, Drive, ToldOfCall } from "../contract.ts";
import { actionName } from "./action-name.ts";
import { DurableCalls } from "./durable-calls.ts";
import { Racer, wordOf } from "./racer.ts";
import { jobDataOf, usageOf } from "./scripted-models.ts";

/** What the application holds of the session that its harness drives. */
export interface Attached {
  readonly harness: AgentHarness;
  readonly session: Session;
  /** The lane that it calls. */
  readonly lane: AgentLane;
}

/** What an application lives by. */
export interface ApplicationParts {
  readonly drive: Drive;
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly gate: Gate;
  /** Whether it is the first life on its disk. */
  readonly isFirst: boolean;
  /** Everything durable, read beside the life. */
  readonly dump: () => SessionDump;
  /** The lane that it calls. */
  readonly lane: string;
  /** Told of each call before it is made and once it is answered. */
  readonly told: ((told: ToldOfCall) => void) | undefined;
}

/** What an application calls. */
export type Script = Pick<Scenario, "stimuli" | "meanwhile" | "schedule">;

/** See the module header. */
export class Application {
  readonly lane: string;
  readonly #script: Script;
  readonly #parts: ApplicationParts;
  readonly #drive: Drive;
  readonly #clock: Clock;
  readonly #durable: DurableCalls;
  #attached: Attached | undefined;
  #racer: Racer | undefined;
  /** Rejects with what a call of a moment fails with. */
  readonly #failed: Promise<never>;
  #fail: (error: unknown) => void = () => undefined;

  constructor(script: Script, store: Storage, parts: ApplicationParts) {
    this.lane = parts.lane;
    this.#script = script;
    this.#parts = parts;
    this.#drive = parts.drive;
    this.#clock = parts.clock;
    this.#durable = new DurableCalls(store, parts.lane);
    this.#failed = new Promise((_resolve, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => undefined);
  }

  /** Goes on where the durable state says the scenario stands. */
  live(attached: Attached, suspended: SuspendedOperation | undefined): Promise<void> {
    this.#attached = attached;
    return Promise.race([this.#live(suspended), this.#failed]);
  }

  /** Makes a call of an explorer; see `Incarnation.call`. */
  call(call: RaceCall, name: string): Promise<string> | undefined {
    if (this.#attached === undefined) return undefined;
    this.#racer ??= this.#newRacer([]);
    return this.#racer.start(call, name);
  }

  async #live(suspended: SuspendedOperation | undefined): Promise<void> {
    const { schedule } = this.#script;
    if (schedule !== undefined) {
      const isDone = await Promise.all(schedule.map(({ call }) => this.#wasMade(call)));
      this.#racer = this.#newRacer(schedule.filter((_, index) => isDone[index] === false));
    }
    if (suspended) await this.#resume(suspended.aborting ? undefined : suspended.deferred);
    for (const stimulus of this.#racer?.isClosed ? [] : await this.#durable.undone(this.#script.stimuli)) {
      if (this.#racer?.isClosed) break;
      await this.#make(stimulus);
    }
    if (this.#drive === "manual" && this.#racer?.isWaiting) await this.#steps();
    await this.#racer?.answeredAll();
  }

  #newRacer(ahead: NonNullable<Scenario["schedule"]>): Racer {
    const { timeline, dump } = this.#parts;
    const idOf = (text: string) => this.#durable.idOf(text);
    const targetOf = (text: string | null) => this.#durable.targetOf(text);
    const nowMs = () => this.#clock.now();
    return new Racer({ ...this.#attachedNow(), timeline, dump, nowMs, idOf, targetOf }, ahead);
  }

  /** Whether the effect of a call was durable when the life began. */
  async #wasMade(call: RaceCall): Promise<boolean> {
    if (this.#parts.isFirst) return false;
    if ("text" in call || isNoting(call)) return this.#durable.isDone(call);
    return false;
  }

  /**
   * Makes the calls of a moment. An effect calls this once it has happened, and answers after it. Where a call fails the
   * application ends, and the effect is never answered: its failure would be taken for one of the effect.
   */
  readonly during = async (moment: Moment): Promise<void> => {
    try {
      for (const call of callsAt(this.#script, moment)) {
        if (!(await this.#durable.isDone(call))) await this.#make(call);
      }
    } catch (error) {
      this.#fail(error);
      await new Promise<never>(() => undefined);
    }
  };

  async #make(call: Stimulus | MeanwhileCall): Promise<void> {
    const { told } = this.#parts;
    told?.({ lane: this.lane, call, phase: "asked" });
    const outcome = await this.#answer(call);
    told?.({ lane: this.lane, call, phase: outcome });
  }

  async #answer(call: Stimulus | MeanwhileCall): Promise<CallOutcome> {
    const { lane } = this.#attachedNow();
    await this.#aboutTo(call.call);
    if (isNoting(call)) {
      try {
        await this.#note(call);
        return "done";
      } catch (error) {
        // In a race the harness may be closed under it: an answer like any other.
        if (error instanceof HarnessClosed && this.#racer?.isClosed) return "refused";
        throw error;
      }
    }
    if (isStructural(call)) return this.#run(call.call, (await this.#work(lane, call)).answer, call);
    if (call.call === "prompt") return this.#run(call.call, lane.prompt(call.text));
    if (call.call !== "abort") return this.#say(call);
    const aborted = await lane.abort();
    if (!aborted.ok) throw aborted.error;
    return "done";
  }

  async #note(call: NotingCall): Promise<void> {
    const { harness, session, lane } = this.#attachedNow();
    switch (call.call) {
      case "setThinkingLevel":
        return lane.setThinkingLevel(call.level);
      case "setName":
        return session.setName(call.name);
      case "createLane": {
        const made = await harness.createLane(call.lane, null);
        if (!made.ok) throw made.error;
        return;
      }
      case "recordUsage": {
        const booked = await lane.recordUsage(usageOf(call.usage));
        if (!booked.ok) throw booked.error;
        return;
      }
      default:
        return absurd(call, "noting call");
    }
  }

  /** Begins work on the tree. Boxed, so that whoever waits for the beginning does not wait for the answer. */
  async #work(lane: AgentLane, call: StructuralCall): Promise<{ readonly answer: Call }> {
    const { customInstructions } = call;
    const asked = customInstructions === undefined ? {} : { customInstructions };
    if (call.call === "compact") return { answer: lane.compact(asked) };
    const { summarize = false, label } = call;
    const options = { ...asked, summarize, ...(label === undefined ? {} : { label }) };
    return { answer: lane.navigateTree(await this.#durable.targetOf(call.to), options) };
  }

  async #say({ call, text }: QueueCall): Promise<CallOutcome> {
    const { lane } = this.#attachedNow();
    // What is written without a lane goes to the first one.
    const session = this.lane === MAIN_LANE ? this.#attachedNow().session : lane.session;
    switch (call) {
      case "steer":
      case "followUp": {
        const said = await lane[call](text);
        // The run takes no input any more: an answer like any other.
        if (!said.ok && said.error._tag !== "NoActiveRun") throw said.error;
        return said.ok ? "done" : "refused";
      }
      case "nextRun": {
        const said = await lane.nextRun(text);
        if (!said.ok) throw said.error;
        return "done";
      }
      case "cancelQueued": {
        const id = await this.#durable.idOf(text);
        const taken = id === undefined ? undefined : await lane.cancelQueued(id);
        if (taken?.ok === false) throw taken.error;
        return taken?.value.kind === "cancelled" ? "done" : "refused";
      }
      case "appendMessage":
        await session.appendMessage({ role: "user", content: text, timestamp: this.#clock.now() });
        return "done";
      case "appendCustom":
        await session.appendCustomEntry(CUSTOM_TYPE, text);
        return "done";
    }
  }

  /** Makes a call, and resumes its run as often as it is suspended, until it has ended. */
  async #run(name: string, call: Call, { refused, mayBeRefused }: Refusals = {}): Promise<CallOutcome> {
    const racer = this.#racer;
    const answered = racer?.answered(name, async () => wordOf(await call));
    racer?.beside({ besideCall: name });
    // A manual harness is let through its parked actions until the call is answered.
    if (this.#drive === "manual") await this.#steps();
    if ((await answered) === "HarnessClosed") return "refused";
    const result = await call;
    const isAnswer = racer !== undefined || mayBeRefused === true;
    if (!result.ok && (isAnswer || tagOf(result.error) === refused)) return "refused";
    if (!result.ok) throw result.error;
    if (refused !== undefined) throw new Error(`a call was accepted that is to be refused with ${refused}`);
    if (result.value.kind !== "suspended") return "done";
    if (result.value.reason !== "deferred") throw new Error("every identity of a scenario is registered");
    await this.#resume(result.value.deferred);
    return "done";
  }

  async #resume(deferred: DeferredHandle | undefined): Promise<void> {
    const { lane } = this.#attachedNow();
    if (deferred) {
      const { turn, notBefore } = jobDataOf(deferred);
      const moment = { suspendedAt: turn };
      await this.during(moment);
      if (callsAt(this.#script, moment).some(({ call }) => call === "abort")) return this.#untilIdle(lane);
      await this.#clock.sleep(notBefore - this.#clock.now());
    }
    await this.#aboutTo("resume");
    if (this.#racer?.isClosed) return;
    await this.#run("resume", lane.resume());
  }

  /**
   * In a race, calls may be made before one that the application makes anyhow. Where a run drives itself somebody may
   * wish to make them there: its own calls are steps of an interleaving, like everything else.
   */
  async #aboutTo(call: string): Promise<void> {
    const racer = this.#racer;
    if (racer === undefined) return;
    const { gate } = this.#parts;
    if (this.#drive === "automatic") await gate.pass("effect", `${CALL_LABEL}.${call}`, () => undefined);
    await racer.at({ beforeCall: call });
  }

  /** Executes the actions of a manual drive until there are none. In a race, calls are made between them. */
  async #steps(): Promise<void> {
    const { lane } = this.#attachedNow();
    const racer = this.#racer;
    if (racer === undefined) return lane.runToCompletion();
    for (;;) {
      const action = await lane.peekAction();
      if (action === undefined) return;
      const name = actionName(action);
      // What was called may have taken the action back: look again.
      if (await racer.at({ before: name })) continue;
      await lane.executeAction();
      await racer.at({ after: name });
    }
  }

  /** Waits for the end of an operation that nobody resumes. */
  async #untilIdle(lane: AgentLane): Promise<void> {
    if (this.#drive === "manual") await this.#steps();
    await lane.waitForIdle();
  }

  #attachedNow(): Attached {
    if (this.#attached === undefined) throw new Error("no effect starts before the harness is attached");
    return this.#attached;
  }
}

/** A call of the harness, under way. */
type Call = Promise<RunResult | CompactionResult | NavigationResult | ResumeResult>;

/** Whether a call is refused. */
type Refusals = Pick<StructuralCall, "refused" | "mayBeRefused">;

function tagOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "_tag" in error ? error._tag : undefined;
}

/** The type of the custom entries that scenarios append. */
const CUSTOM_TYPE = "note";
