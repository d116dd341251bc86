/**
 * A batch of tool calls in a continuation: which calls run, run again, or are answered without their tool (spec §3.8,
 * §4.5, §4.6), and whether the run is to end with them.
 *
 * Calls that run side by side are started in source order and settled in source order. Where one of them is cancelled
 * in its middle, those before it run already and keep their results. Those after it may have been started just before
 * the cancellation or not: both histories are right, and either result is expected.
 *
 * Not covered: such a call that reports a cost, or during which something is said. Then the two histories differ in the
 * ledger or in the queues too, and what follows would have to be computed for each. Nor a call before it that asks for the
 * end of the run: it does so only if its result was settled before the cancellation.
 */
import { callsAt, declaredReplay, type Scenario } from "../../faults/index.ts";
import type { ToolBatch } from "../../model/index.ts";
import type { ExpectedCalls } from "./expected-calls.ts";
import type { ExpectedSession } from "./expected-session.ts";
import { type Library, syntheticResult } from "./library.ts";
import { NotCovered, type ToolCallSource } from "./parsed-view.ts";

/** What a batch is expected with. */
export interface BatchWorld {
  readonly scenario: Scenario;
  readonly library: Library;
  readonly session: ExpectedSession;
  readonly calls: ExpectedCalls;
  /** A demand of the policy table. */
  demand(what: string): void;
}

/** See the module header. */
export class ExpectedBatch {
  readonly #world: BatchWorld;
  readonly #turn: number;
  readonly #sources: readonly ToolCallSource[];
  /** A call of this batch was cancelled in its middle, in this life, while those after it were being started. */
  #isRacing = false;
  /** A call that ran in this life asked for the end of the run. */
  #hasAskedForEnd = false;

  /** @param turn that of the response which asked for the calls. */
  constructor(world: BatchWorld, turn: number, sources: readonly ToolCallSource[]) {
    this.#world = world;
    this.#turn = turn;
    this.#sources = sources;
  }

  /** A batch that begins. Answers whether the run is to end with it: every call must ask for that. */
  run(): boolean {
    return this.#sources.map((source) => this.#call(source)).every((terminate) => terminate);
  }

  /** A batch that was under way when the process died. */
  resume(batch: ToolBatch): boolean {
    const terminations = batch.calls.map((call, index) => {
      const source = this.#sources[index];
      if (source === undefined) throw new NotCovered("a batch with more calls than its response");
      if (call.status === "completed") return call.terminate;
      if (call.status === "planned") return this.#call(source);
      return this.#lost(source, call.replay);
    });
    return terminations.every((terminate) => terminate);
  }

  /** A call that was started in an earlier life. */
  #lost(source: ToolCallSource, replay: "never" | "safe"): boolean {
    const { scenario, session, calls, demand } = this.#world;
    const tool = scenario.tools.find(({ name }) => name === source.name);
    const isSafeNow = tool !== undefined && declaredReplay(tool, RECOVERING_LIFE) === "safe";
    const isSafe = replay === "safe" && isSafeNow;
    if (isSafe && this.#isRacing) {
      demand(`safe call pending beside a cancellation: ${source.name} is run again, or interrupted`);
      return this.#call(source);
    }
    const isRunAgain = isSafe && !calls.isCancelled;
    demand(
      isRunAgain
        ? `safe call pending: ${source.name} is run again with the stored arguments`
        : `call pending: ${source.name} gets an interrupted result`,
    );
    return isRunAgain ? this.#call(source) : session.place(syntheticResult(source));
  }

  /** A call that has not run in this life: its result is placed. Answers whether it asks for the end of the run. */
  #call(source: ToolCallSource): boolean {
    const { library, session, calls } = this.#world;
    if (this.#isRacing) return this.#eitherResult(source);
    if (calls.isCancelled) return session.place(syntheticResult(source));
    if (library.isExecuted(source)) calls.during({ tool: source.id });
    const result = library.result(this.#turn, source);
    // A result that comes after a cancellation stands, and asks for nothing any more.
    if (!calls.isCancelled) {
      this.#hasAskedForEnd ||= result.terminate;
      return session.place(result);
    }
    this.#isRacing = this.#isSideBySide();
    if (this.#isRacing && this.#hasAskedForEnd) {
      throw new NotCovered("a call that asks for the end beside one that is cancelled");
    }
    return session.place({ ...result, terminate: false });
  }

  /** A call beside one that was cancelled: started just before that, or never. */
  #eitherResult(source: ToolCallSource): false {
    const { scenario, library, session } = this.#world;
    const never = syntheticResult(source);
    if (!library.isExecuted(source)) {
      session.place(never);
      return false;
    }
    const result = library.result(this.#turn, source);
    if (result.usage !== undefined || callsAt(scenario, { tool: source.id }).length > 0) {
      throw new NotCovered("a call beside a cancelled one that is billed, or during which something is said");
    }
    session.placeEither(result, never);
    return false;
  }

  /** Whether the calls of this batch are started without waiting for those before them. */
  #isSideBySide(): boolean {
    const { settings, tools } = this.#world.scenario;
    const isAlone = (name: string) =>
      tools.some((tool) => tool.name === name && tool.executionMode === "sequential");
    return settings.toolExecution !== "sequential" && !this.#sources.some(({ name }) => isAlone(name));
  }
}

/** Whoever recovers is not the first life; what is declared changes there and never again. */
const RECOVERING_LIFE = 1;
