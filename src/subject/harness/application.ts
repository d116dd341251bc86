/**
 * The application over the harness: makes the calls of a scenario, in every life.
 *
 * It is the simplest correct one. After a restart it knows nothing but what is durable: an operation that is suspended
 * is resumed; a message that is in the conversation or in a queue was said and is never said twice; of the calls in
 * order, those before one that is done are done. A deferred job is resumed when its handle says that it should be done, or
 * at once if that is past, as often as it takes. A call that belongs to a moment of the world is made when the moment
 * comes, and again when the moment comes again, unless its effect is durable.
 */
import {
  callsAt,
  type MeanwhileCall,
  type Moment,
  type QueueCall,
  type Scenario,
  type Stimulus,
} from "../../faults/index.ts";
import type { Clock } from "../../foundation/index.ts";
import type { AgentHarness, ResumeResult, RunResult, SuspendedOperation } from "../../harness/index.ts";
import type { AgentMessage, DeferredHandle } from "../../model/index.ts";
import type { Session } from "../../session/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Drive } from "../contract.ts";
import { jobDataOf } from "./scripted-models.ts";

/** What the application holds of the session that its harness drives. */
export interface Attached {
  readonly harness: AgentHarness;
  readonly session: Session;
  /** Has the scripted model look again at what was settled: a recovery settles answers that it never gave. */
  readonly recount: () => Promise<void>;
}

/** See the module header. */
export class Application {
  readonly #scenario: Scenario;
  readonly #drive: Drive;
  readonly #clock: Clock;
  /** Read beside the gate: looking at what is durable is no effect. */
  readonly #store: Storage;
  #attached: Attached | undefined;
  /** What a call of a moment failed with; whoever waited for it would take it for a failure of the effect. */
  #failure: { readonly error: unknown } | undefined;

  constructor(scenario: Scenario, store: Storage, { drive, clock }: { drive: Drive; clock: Clock }) {
    this.#scenario = scenario;
    this.#drive = drive;
    this.#clock = clock;
    this.#store = store;
  }

  /** Goes on where the durable state says the scenario stands. */
  async live(attached: Attached, suspended: SuspendedOperation | undefined): Promise<void> {
    this.#attached = attached;
    if (suspended) {
      await this.#resume(suspended.deferred);
      await attached.recount();
    }
    for (const stimulus of await this.#undone()) await this.#make(stimulus);
    if (this.#failure) throw this.#failure.error;
  }

  /** Makes the calls of a moment. An effect calls this once it has happened, and answers after it. */
  readonly during = async (moment: Moment): Promise<void> => {
    try {
      for (const call of callsAt(this.#scenario, moment)) {
        if (!(await this.#isDone(call))) await this.#make(call);
      }
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  };

  async #undone(): Promise<readonly Stimulus[]> {
    const { stimuli } = this.#scenario;
    for (let count = stimuli.length; count > 0; count--) {
      const last = stimuli[count - 1];
      if (last !== undefined && (await this.#isDone(last))) return stimuli.slice(count);
    }
    return stimuli;
  }

  /**
   * Whether the effect of a call is durable. Taking back leaves nothing, so it counts as done only by what follows; and
   * once a cancellation is durable its moment does not come again.
   */
  async #isDone(call: Stimulus | MeanwhileCall): Promise<boolean> {
    if (call.call === "cancelQueued" || call.call === "abort") return false;
    return (await this.#idOf(call.text)) !== undefined;
  }

  async #make(call: Stimulus | MeanwhileCall): Promise<void> {
    const { harness } = this.#attachedNow();
    if (call.call === "prompt") return this.#run(harness.prompt(call.text));
    if (call.call !== "abort") return this.#say(call);
    const aborted = await harness.abort();
    if (!aborted.ok) throw aborted.error;
  }

  async #say({ call, text }: QueueCall): Promise<void> {
    const { harness, session } = this.#attachedNow();
    switch (call) {
      case "steer":
      case "followUp": {
        const said = await harness[call](text);
        // The run takes no input any more: an answer like any other.
        if (!said.ok && said.error._tag !== "NoActiveRun") throw said.error;
        return;
      }
      case "nextRun": {
        const said = await harness.nextRun(text);
        if (!said.ok) throw said.error;
        return;
      }
      case "cancelQueued": {
        const id = await this.#idOf(text);
        const taken = id === undefined ? undefined : await harness.cancelQueued(id);
        if (taken?.ok === false) throw taken.error;
        return;
      }
      case "appendMessage":
        await session.appendMessage({ role: "user", content: text, timestamp: this.#clock.now() });
        return;
      case "appendCustom":
        await session.appendCustomEntry(CUSTOM_TYPE, text);
        return;
    }
  }

  /** Makes a call, and resumes its run as often as it is suspended, until it has ended. */
  async #run(call: Promise<RunResult | ResumeResult>): Promise<void> {
    // A manual harness is let through its parked actions until the call is answered.
    if (this.#drive === "manual") await this.#attachedNow().harness.runToCompletion();
    const result = await call;
    if (!result.ok) throw result.error;
    if (result.value.kind !== "suspended") return;
    if (result.value.reason !== "deferred") throw new Error("every identity of a scenario is registered");
    await this.#resume(result.value.deferred);
  }

  async #resume(deferred: DeferredHandle | undefined): Promise<void> {
    if (deferred) await this.#clock.sleep(jobDataOf(deferred).notBefore - this.#clock.now());
    await this.#run(this.#attachedNow().harness.resume());
  }

  /** The id under which a text is durable, placed or queued. */
  async #idOf(text: string): Promise<string | undefined> {
    for (const entry of await this.#store.scanEntries({})) {
      if (entry.type === "message" && textOf(entry.message) === text) return entry.id;
      if (entry.type === "custom" && entry.data === text) return entry.id;
    }
    const queued = await this.#store.listRegisters("pending.entry");
    return queued.find(({ value }) => {
      return (value.type === "message" ? textOf(value.payload) : value.payload) === text;
    })?.key;
  }

  #attachedNow(): Attached {
    if (this.#attached === undefined) throw new Error("no effect starts before the harness is attached");
    return this.#attached;
  }
}

/** The type of the custom entries that scenarios append. */
const CUSTOM_TYPE = "note";

/** What a user message says. */
function textOf(message: AgentMessage): string | undefined {
  if (message.role !== "user") return undefined;
  if (typeof message.content === "string") return message.content;
  const [block] = message.content;
  return block?.type === "text" ? block.text : undefined;
}
