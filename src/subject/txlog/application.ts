/**
 * The application over a transactional session: makes the calls of a scenario, in every life.
 *
 * After a restart it knows nothing but what is durable. Each call that was accepted is one operation in the file, so
 * those that are missing there are made, in their order. It cancels in a moment of the world, and again when the moment
 * comes again; a cancellation that is durable already is not written twice.
 */
import { RETAINED_MESSAGES } from "../../checkers/index.ts";
import { callsAt, type Moment, type Scenario, type Stimulus } from "../../faults/index.ts";
import type { PastOperation, SessionDriver } from "../../txlog/index.ts";

/** See the module header. */
export class TxlogApplication {
  readonly #scenario: Scenario;
  /** Reads beside the gate: looking at what is durable is no effect. */
  readonly #operations: () => readonly PastOperation[];
  #driver: SessionDriver | undefined;

  constructor(scenario: Scenario, operations: () => readonly PastOperation[]) {
    this.#scenario = scenario;
    this.#operations = operations;
  }

  /** Goes on where the durable state says the scenario stands. */
  async live(driver: SessionDriver): Promise<void> {
    this.#driver = driver;
    await driver.resume();
    for (const stimulus of this.#scenario.stimuli.slice(this.#operations().length)) {
      const accepted = await this.#make(driver, stimulus);
      // Blocked work keeps its place: the next call waits until someone has decided.
      if (!accepted.ok) return;
      await driver.resume();
    }
  }

  /** Makes the calls of a moment: a cancellation is the only one that this system knows. */
  async during(moment: Moment): Promise<void> {
    for (const { call } of callsAt(this.#scenario, moment)) {
      if (call !== "abort") throw new Error(`this system has no call ${call}`);
      await this.#driver?.abort();
    }
  }

  /** Which summary comes next, as scenarios count them. */
  task(): number {
    return this.#operations().filter(({ kind, outcome }) => kind === "compaction" && outcome === "completed")
      .length;
  }

  #make(driver: SessionDriver, stimulus: Stimulus) {
    switch (stimulus.call) {
      case "prompt":
        return driver.prompt(stimulus.text);
      case "compact":
        return driver.compact(RETAINED_MESSAGES);
      default:
        throw new Error(`this system has no call ${stimulus.call}`);
    }
  }
}
