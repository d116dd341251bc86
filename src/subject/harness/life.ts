/**
 * One life of a process over the harness: open the store, attach, and let the applications (`applications.ts`) go on with
 * the scenario where the durable state says it stands.
 */
import { InstrumentedStorage, type RaceCall, stopsIn } from "../../faults/index.ts";
import { idsOfIncarnation } from "../../foundation/index.ts";
import { AgentHarness, type SuspendedOperation } from "../../harness/index.ts";
import type { AgentHarnessTool, Models, Write } from "../../model/index.ts";
import { Session } from "../../session/index.ts";
import type { SessionDump, SessionMetadata, Storage } from "../../storage/index.ts";
import type { Boot, Incarnation } from "../contract.ts";
import { steppingClock } from "../stepping-clock.ts";
import { Applications } from "./applications.ts";
import { readAside } from "./aside.ts";
import { disturb, telling } from "./disturbed-life.ts";
import type { OpenStore } from "./medium.ts";
import { askForRunEnd, decideByScript, rewriteByScript } from "./scripted-hooks.ts";
import { ScriptedModels, scriptedModel } from "./scripted-models.ts";
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
  /** What the application calls. */
  readonly harness?: (harness: AgentHarness, boot: Boot) => AgentHarness;
}

/** What a life is made of, beside its boot. */
export interface LifeParts {
  readonly metadata: SessionMetadata;
  /** Opens the medium; called once. */
  readonly open: () => Promise<OpenStore>;
  /** Everything durable, read beside the life. */
  readonly dump: () => SessionDump;
  /** The specification's name of a commit. */
  readonly label: (writes: readonly Write[]) => string;
  readonly seams: Seams;
}

/** Begins the life; see the header. */
export function startLife(parts: LifeParts, boot: Boot): Incarnation {
  const life = new HarnessLife(parts, boot);
  return {
    life: life.work(),
    drop: () => life.drop(),
    close: () => life.close(),
    call: (call, name) => life.call(call, name),
  };
}

class HarnessLife {
  readonly #parts: LifeParts;
  readonly #boot: Boot;
  #applications: Applications | undefined;
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
    const { world, scenario, drive, mediumFault, timeline, gate, incarnation, told } = this.#boot;
    const applications = new Applications(scenario, readAside(store.storage, mediumFault), {
      drive,
      clock: world.clock,
      timeline,
      gate,
      isFirst: incarnation === 0,
      dump: this.#parts.dump,
      told,
    });
    this.#applications = applications;
    const { harness, session, suspended } = await this.#attach(store, applications);
    this.#harness = harness;
    await applications.live(harness, session, suspended);
  }

  call(call: RaceCall, name: string): Promise<string> | undefined {
    return this.#applications?.call(call, name);
  }

  drop(): void {
    this.#dropped = true;
    this.#boot.gate.drop();
    this.#store?.abandon();
  }

  async close(): Promise<void> {
    await this.#harness?.close();
  }

  async #attach(
    store: OpenStore,
    { during }: Applications,
  ): Promise<{ harness: AgentHarness; session: Session; suspended: readonly SuspendedOperation[] }> {
    const { metadata, seams, label } = this.#parts;
    const boot = this.#boot;
    const { scenario, seed, incarnation, world, gate, timeline, mediumStop, mediumFault, disturbance } = boot;
    const { clock } = world;
    const seenClock = steppingClock(clock, timeline, disturbance);
    const medium = seams.mediumStore?.(store.storage, boot) ?? store.storage;
    const aside = readAside(store.storage, mediumFault);
    const seen = new InstrumentedStorage(medium, {
      gate,
      timeline,
      label,
      now: () => clock.now(),
      stats: readAside(medium, mediumFault),
      released: (boundary) => {
        if (stopsIn(mediumStop, boundary)) {
          store.stopNextWriteAfter?.(mediumStop.bytesWritten, () => mediumStop.reached());
        }
      },
    });
    const storage = seams.runtimeStore?.(seen, boot) ?? seen;
    const session = new Session({
      storage,
      metadata,
      idGenerator: idsOfIncarnation(seed, incarnation, seenClock),
    });
    const access = { gate, timeline, during, life: incarnation };
    const models = new ScriptedModels(world, access, aside);
    const registry = disturbance?.kind.place === "hook" ? telling(models) : models;
    const tools = scriptedTools(scenario, world, access, incarnation);
    const { retry, toolExecution, steeringMode, followUpMode, deferred, compaction } = scenario.settings;
    const { harness, suspended } = await AgentHarness.create({
      session,
      models: seams.models?.(registry, boot) ?? registry,
      model: scriptedModel(scenario),
      tools: seams.tools?.(tools, boot) ?? tools,
      ...(retry === undefined ? {} : { retry: { ...retry } }),
      ...(toolExecution === undefined ? {} : { toolExecution }),
      ...(steeringMode === undefined ? {} : { steeringMode }),
      ...(followUpMode === undefined ? {} : { followUpMode }),
      ...(deferred === undefined ? {} : { streamOptions: { deferred: { ...deferred } } }),
      ...(compaction === undefined ? {} : { compaction: { ...compaction } }),
      drive: boot.drive,
      clock: {
        now: () => seenClock.now(),
        sleep: async (delayMs, signal) => {
          await world.sleep(access, delayMs, signal);
          // Of several lanes it is not known whose wait it was; no scenario calls anything then.
          const lastFailure = scenario.lanes === undefined ? await models.lastFailure() : undefined;
          if (lastFailure) await during({ retryOf: lastFailure.turn, ask: lastFailure.ask });
        },
      },
    });
    decideByScript(harness.hooks, world, access, store.storage);
    askForRunEnd(harness.hooks, scenario, aside);
    rewriteByScript(harness.hooks, scenario, access);
    await disturb(harness, scenario, timeline, disturbance);
    return { harness: seams.harness?.(harness, boot) ?? harness, session, suspended };
  }
}
