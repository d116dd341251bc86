/**
 * One life of an application over the harness: open the store, attach, resume what was interrupted, then go on with
 * the workload where the durable state says it stands.
 *
 * The application is the simplest correct one. After a restart it knows nothing but what is durable: an operation that
 * is suspended is resumed; a prompt that is not in the conversation was never accepted and is given again; one that is
 * there is never given twice.
 */
import { InstrumentedStorage, stopsIn } from "../../faults/index.ts";
import { idsOfIncarnation } from "../../foundation/index.ts";
import { AgentHarness } from "../../harness/index.ts";
import type { AgentHarnessTool, Entry, Models, Write } from "../../model/index.ts";
import { Session } from "../../session/index.ts";
import type { SessionMetadata, Storage } from "../../storage/index.ts";
import type { Boot, Incarnation } from "../contract.ts";
import type { OpenStore } from "./medium.ts";
import { SCRIPTED_MODEL, ScriptedModels, settledFailures } from "./scripted-models.ts";
import { scriptedTools } from "./scripted-tools.ts";

/**
 * Seams at which a defect can be put in, so that the judges can be shown to find it. The right system has none.
 * What stands above the judges' eye is a defect of the runtime; what stands below it is one of the store.
 */
export interface Seams {
  /** Between the runtime and the judges' eye. */
  readonly runtimeStore?: (storage: Storage, boot: Boot) => Storage;
  /** Between the judges' eye and the medium. */
  readonly mediumStore?: (storage: Storage, boot: Boot) => Storage;
  readonly models?: (models: Models, boot: Boot) => Models;
  readonly tools?: (tools: AgentHarnessTool[], boot: Boot) => AgentHarnessTool[];
}

/** What a life is made of, beside its boot. */
export interface LifeParts {
  readonly metadata: SessionMetadata;
  /** Opens the medium; called once. */
  readonly open: () => Promise<OpenStore>;
  /** The specification's name of a commit. */
  readonly label: (writes: readonly Write[]) => string;
  readonly seams: Seams;
}

/** Begins the life; see the header. */
export function startLife(parts: LifeParts, boot: Boot): Incarnation {
  const life = new HarnessLife(parts, boot);
  return { life: life.work(), drop: () => life.drop(), close: () => life.close() };
}

class HarnessLife {
  readonly #parts: LifeParts;
  readonly #boot: Boot;
  #store: OpenStore | undefined;
  #harness: AgentHarness | undefined;
  #dropped = false;

  constructor(parts: LifeParts, boot: Boot) {
    this.#parts = parts;
    this.#boot = boot;
  }

  async work(): Promise<void> {
    const store = await this.#parts.open();
    this.#store = store;
    if (this.#dropped) {
      store.abandon();
      return;
    }
    const { harness, isSuspended } = await this.#attach(store);
    this.#harness = harness;
    if (isSuspended) await this.#drive(harness, harness.resume());
    await this.#goOn(harness, store.storage);
  }

  drop(): void {
    this.#dropped = true;
    this.#boot.gate.drop();
    this.#store?.abandon();
  }

  async close(): Promise<void> {
    await this.#harness?.close();
  }

  async #attach(store: OpenStore): Promise<{ harness: AgentHarness; isSuspended: boolean }> {
    const { metadata, seams, label } = this.#parts;
    const boot = this.#boot;
    const { scenario, seed, incarnation, world, gate, timeline, mediumStop } = boot;
    const medium = seams.mediumStore?.(store.storage, boot) ?? store.storage;
    const seen = new InstrumentedStorage(medium, {
      gate,
      timeline,
      label,
      released: (boundary) => {
        if (stopsIn(mediumStop, boundary)) {
          store.stopNextWriteAfter?.(mediumStop.bytesWritten, () => mediumStop.reached());
        }
      },
    });
    const storage = seams.runtimeStore?.(seen, boot) ?? seen;
    const { clock } = world;
    const session = new Session({
      storage,
      metadata,
      idGenerator: idsOfIncarnation(seed, incarnation, clock),
    });
    const access = { gate, timeline };
    const models = new ScriptedModels(world, access, settledFailures(await this.#messages(store.storage)));
    const tools = scriptedTools(scenario, world, access, incarnation);
    const { harness, suspended } = await AgentHarness.create({
      session,
      models: seams.models?.(models, boot) ?? models,
      model: SCRIPTED_MODEL,
      tools: seams.tools?.(tools, boot) ?? tools,
      ...(scenario.settings.retry === undefined ? {} : { retry: { ...scenario.settings.retry } }),
      ...(scenario.settings.toolExecution === undefined
        ? {}
        : { toolExecution: scenario.settings.toolExecution }),
      drive: boot.drive,
      clock: { now: () => clock.now(), sleep: (delayMs, signal) => world.sleep(access, delayMs, signal) },
    });
    return { harness, isSuspended: suspended.length > 0 };
  }

  /** Gives the prompts that the conversation does not hold yet. */
  async #goOn(harness: AgentHarness, storage: Storage): Promise<void> {
    const accepted = (await this.#messages(storage)).filter(isPrompt).length;
    for (const stimulus of this.#boot.scenario.stimuli.slice(accepted)) {
      await this.#drive(harness, harness.prompt(stimulus.text));
    }
  }

  /** Lets a manual harness go through its parked actions until the call is answered. */
  async #drive(harness: AgentHarness, call: Promise<{ ok: boolean; error?: unknown }>): Promise<void> {
    if (this.#boot.drive === "manual") await harness.runToCompletion();
    const result = await call;
    if (!result.ok) throw result.error;
  }

  async #messages(storage: Storage): Promise<Entry[]> {
    return storage.scanEntries({ type: "message" });
  }
}

/** Every user message of a scenario is one of its prompts: nothing else puts one into the conversation. */
function isPrompt(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "user";
}
