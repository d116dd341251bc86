/**
 * The applications of a scenario: one for its first lane and one for each further one, all under way at once. Each knows
 * its own lane and what is durable, and none knows of the others.
 */
import type { Moment, RaceCall, Scenario } from "../../faults/index.ts";
import type { AgentHarness, AgentLane, SuspendedOperation } from "../../harness/index.ts";
import { MAIN_LANE, type Session } from "../../session/index.ts";
import type { Storage } from "../../storage/index.ts";
import { Application, type ApplicationParts } from "./application.ts";
import { scriptedModel } from "./scripted-models.ts";

/** See the module header. */
export class Applications {
  readonly #scenario: Scenario;
  readonly #all: readonly Application[];

  constructor(scenario: Scenario, store: Storage, parts: Omit<ApplicationParts, "lane">) {
    this.#scenario = scenario;
    const first = new Application(scenario, store, { ...parts, lane: MAIN_LANE });
    const others = (scenario.lanes ?? []).map((script) => {
      return new Application(script, store, { ...parts, lane: script.lane });
    });
    this.#all = [first, ...others];
  }

  /** Goes on in every lane where the durable state says that it stands. */
  async live(
    harness: AgentHarness,
    session: Session,
    suspended: readonly SuspendedOperation[],
  ): Promise<void> {
    for (const { lane } of this.#scenario.lanes ?? []) await this.#prepare(harness, lane);
    await Promise.all(
      this.#all.map(async (application) => {
        const { lane: name } = application;
        const lane: AgentLane | undefined = name === MAIN_LANE ? harness : await harness.lane(name);
        if (lane === undefined) throw new Error(`lane ${name} was made and is not there`);
        const open = suspended.find((operation) => operation.lane === name);
        await application.live({ harness, session, lane }, open);
      }),
    );
  }

  /** Makes a call of an explorer on the first lane; see `Incarnation.call`. */
  call(call: RaceCall, name: string): Promise<string> | undefined {
    return this.#all[0]?.call(call, name);
  }

  /** Makes the calls of a moment: of a lane, or of whoever has one for a call of a tool. */
  readonly during = async (moment: Moment, lane: string = MAIN_LANE): Promise<void> => {
    for (const application of this.#all) {
      if ("tool" in moment || application.lane === lane) await application.during(moment);
    }
  };

  /** Makes a lane, unless it is there, and gives it its model; a process may have died in between. */
  async #prepare(harness: AgentHarness, name: string): Promise<void> {
    if ((await harness.lane(name)) === undefined) {
      const made = await harness.createLane(name, null);
      if (!made.ok) throw made.error;
    }
    const lane = await harness.lane(name);
    const model = scriptedModel(this.#scenario, name);
    if ((await lane?.getModel())?.id !== model.id) await lane?.setModel(model);
  }
}
