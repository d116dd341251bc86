/**
 * The harness: opens a session for driving, and owns what its lanes share (spec §5.2).
 *
 * `create` restores every lane, seeds the configuration of `main` if no harness was attached before (one commit of its
 * own), and starts nothing. Whatever was open is reported in `suspended`; the application decides when to `resume()`.
 * The seed is never a fallback: a lane that has a configuration keeps it, whatever the options say.
 *
 * After a crash an application reconciles like this: for each of `suspended`, `await lane.resume()`; for an operation
 * whose promise died with the process and that is not among them, `await lane.getLastResult()`.
 */
import { err, type Result } from "../foundation/index.ts";
import type {
  AgentHarnessStreamOptions,
  AgentHarnessTool,
  CompactionSettings,
  QueueMode,
  RetryPolicy,
} from "../model/index.ts";
import { configurationWrite, MAIN_LANE } from "../session/index.ts";
import type { AnyTool, Environment } from "./environment.ts";
import { Closed, HarnessClosed, type InvalidLane, type LaneExists, type UnknownTarget } from "./errors.ts";
import type { Events } from "./event-types.ts";
import type { Hooks } from "./hooks.ts";
import { HarnessLane } from "./lane.ts";
import { createLane, type LaneInfo } from "./lane-creation.ts";
import { MutationLine } from "./lane-line.ts";
import { MainLane } from "./main-lane.ts";
import { type AgentHarnessOptions, environmentOf } from "./options.ts";
import type { SuspendedOperation } from "./outcomes.ts";
import type { Resources } from "./resources.ts";
import { restoreLanes } from "./restore.ts";
import { SettingsSetters } from "./settings.ts";
import { suspendedOperation } from "./suspended.ts";
import { HarnessTreeWriter } from "./tree-writer.ts";
import { type SessionSnapshot, type WatchHandle, watchSession } from "./watch.ts";

type DriveMode = "automatic" | "manual";

/** See the module header. As a lane, a harness is its lane `main`. */
export class AgentHarness<TContext extends object | undefined = undefined> extends MainLane {
  /** Handlers that are asked while work goes on. */
  readonly hooks: Hooks;
  /** Passive: listeners change nothing. */
  readonly events: Events;
  readonly #environment: Environment;
  readonly #lanes: Map<string, HarnessLane>;
  readonly #mode: DriveMode;
  readonly #set: SettingsSetters;
  readonly #creations = new MutationLine();
  /** Ties the type of the tools' context to the harness. */
  declare readonly toolContextType?: TContext;

  private constructor(environment: Environment, lanes: Map<string, HarnessLane>, mode: DriveMode) {
    const main = lanes.get(MAIN_LANE);
    if (main === undefined) throw new Error("a restored session has the lane main");
    super(main);
    this.hooks = environment.hooks;
    this.events = environment.events;
    this.#environment = environment;
    this.#lanes = lanes;
    this.#mode = mode;
    this.#set = new SettingsSetters(environment);
  }

  /**
   * Attaches a harness to a session. Starts no provider, tool, hook or timer.
   * @throws TypeError for wrong options, or a session that has a harness; Corruption for a state that cannot be executed; whatever a commit rejects with.
   */
  static async create<TContext extends object | undefined = undefined>(
    options: AgentHarnessOptions<TContext>,
  ): Promise<{ harness: AgentHarness<TContext>; suspended: SuspendedOperation[] }> {
    const environment = environmentOf(options);
    const { session, publisher, seed } = environment;
    const restored = await restoreLanes(session);
    // Restored first, so that nothing is written into a session that cannot be executed.
    if (restored.some(({ configuration }) => configuration === undefined)) {
      await session.commit({ writes: [configurationWrite(MAIN_LANE, seed)] });
    }
    publisher.begin(restored.map((lane) => ({ ...lane, configuration: lane.configuration ?? seed })));
    const mode = options.drive ?? "automatic";
    const suspended: SuspendedOperation[] = [];
    const lanes = new Map<string, HarnessLane>();
    for (const found of restored) {
      const operation = suspendedOperation(environment, found);
      if (operation !== undefined) suspended.push(operation);
      lanes.set(found.lane, new HarnessLane(environment, found.lane, mode, operation));
    }
    session.writeTreesThrough(new HarnessTreeWriter(environment, (name) => lanes.get(name)));
    environment.lifecycle.onEnd((end) => {
      if (end instanceof HarnessClosed) return;
      environment.events.emit({ type: "fault", code: end.code, message: end.message });
    });
    return { harness: new AgentHarness<TContext>(environment, lanes, mode), suspended };
  }

  /** A lane by name; undefined if there is none. Creates nothing. */
  async lane(name: string): Promise<HarnessLane | undefined> {
    return this.#lanes.get(name);
  }

  /** Makes a lane that points at an entry, `null` at the root, with the configuration that this harness began with. */
  async createLane(
    name: string,
    at: string | null,
  ): Promise<Result<HarnessLane, LaneExists | InvalidLane | UnknownTarget | Closed>> {
    const { lifecycle } = this.#environment;
    const made = () => {
      const lane = new HarnessLane(this.#environment, name, this.#mode);
      this.#lanes.set(name, lane);
      return lane;
    };
    try {
      return await this.#creations.run(() => createLane(this.#environment, name, at, made));
    } catch (error) {
      const end = lifecycle.fault(error);
      if (end instanceof HarnessClosed) {
        return err(new Closed({ message: "the harness is closed; open the session again" }));
      }
      throw end;
    }
  }

  /** Every lane, `main` first. */
  async lanes(): Promise<LaneInfo[]> {
    this.#environment.lifecycle.admit();
    return Promise.all([...this.#lanes.values()].map((lane) => lane.info()));
  }

  /** Tells of all lanes: a snapshot, and everything after it. */
  watchSession(): Promise<WatchHandle<SessionSnapshot>> {
    return watchSession(this.#environment, () => [...this.#lanes.values()]);
  }

  async getTools(): Promise<AgentHarnessTool<TContext>[]> {
    return this.#environment.tools.all as AgentHarnessTool<TContext>[];
  }

  /** Replaces the registry. What each lane has active is its own configuration. */
  setTools(tools: readonly AgentHarnessTool<TContext>[]): Promise<void> {
    return this.#set.tools(tools as readonly AnyTool[]);
  }

  async getResources(): Promise<Resources> {
    return structuredClone(this.#environment.resources);
  }

  setResources(resources: Resources): Promise<void> {
    return this.#set.resources(resources);
  }

  async getStreamOptions(): Promise<AgentHarnessStreamOptions> {
    return structuredClone(this.#environment.settings.streamOptions);
  }

  /** For generations that start from now on; `deferred` among them. */
  setStreamOptions(options: AgentHarnessStreamOptions): Promise<void> {
    return this.#set.streamOptions(options);
  }

  async getRetryPolicy(): Promise<RetryPolicy> {
    return structuredClone(this.#environment.settings.retry);
  }

  /** For generations that start from now on. */
  setRetryPolicy(policy: RetryPolicy): Promise<void> {
    return this.#set.retryPolicy(policy);
  }

  async getCompactionSettings(): Promise<CompactionSettings> {
    return structuredClone(this.#environment.settings.run.compaction);
  }

  /** For operations that are accepted from now on. */
  setCompactionSettings(settings: CompactionSettings): Promise<void> {
    return this.#set.compactionSettings(settings);
  }

  async getSteeringMode(): Promise<QueueMode> {
    return this.#environment.settings.run.steeringMode;
  }

  /** For runs that are accepted from now on. */
  setSteeringMode(mode: QueueMode): Promise<void> {
    return this.#set.steeringMode(mode);
  }

  async getFollowUpMode(): Promise<QueueMode> {
    return this.#environment.settings.run.followUpMode;
  }

  /** For runs that are accepted from now on. */
  setFollowUpMode(mode: QueueMode): Promise<void> {
    return this.#set.followUpMode(mode);
  }

  /**
   * Detaches: a controlled crash (spec §4.7). Nothing is written; commits that the store has accepted are drained, all
   * effects are told to stop, open operations stay as they are stored. Waits for a callback of `runWhenIdle` that runs, so
   * no such callback may wait for it. Idempotent.
   */
  async close(): Promise<void> {
    const { lifecycle, session } = this.#environment;
    lifecycle.seal();
    await lifecycle.outlasted();
    await session.close();
  }
}
