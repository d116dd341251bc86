/** A harness as a lane: every call goes to its lane `main` (spec §5.2). */
import type {
  AgentMessage,
  ImageContent,
  LaneLastResult,
  Model,
  ThinkingLevel,
  Usage,
} from "../model/index.ts";
import { MAIN_LANE, type SessionTree } from "../session/index.ts";
import type { HarnessLane } from "./lane.ts";
import type { ActionInfo } from "./manual-drive.ts";
import type {
  AbortResult,
  CancelQueuedResult,
  CompactionResult,
  NavigationResult,
  NextRunResult,
  QueueResult,
  RecordUsageResult,
  ResumeResult,
  RunResult,
} from "./outcomes.ts";
import type { RecordUsageOptions } from "./record-usage.ts";
import type { CompactOptions, NavigateOptions } from "./structural-acceptance.ts";
import type { LaneSnapshot, WatchHandle } from "./watch.ts";

/** A lane as an application has it (spec §5.1): what a harness and each of its lanes have in common. */
export type AgentLane = Pick<HarnessLane, keyof MainLane>;

/** See the module header; what the calls do is said at the lane. */
export class MainLane {
  readonly name = MAIN_LANE;
  readonly #main: HarnessLane;

  constructor(main: HarnessLane) {
    this.#main = main;
  }

  /** The session tree as `main` sees it. */
  get session(): SessionTree {
    return this.#main.session;
  }

  prompt(text: string, images?: readonly ImageContent[]): Promise<RunResult>;
  prompt(message: AgentMessage | readonly AgentMessage[]): Promise<RunResult>;
  prompt(
    input: string | AgentMessage | readonly AgentMessage[],
    images?: readonly ImageContent[],
  ): Promise<RunResult> {
    return typeof input === "string" ? this.#main.prompt(input, images) : this.#main.prompt(input);
  }

  skill(name: string, additionalInstructions?: string): Promise<RunResult> {
    return this.#main.skill(name, additionalInstructions);
  }

  promptFromTemplate(name: string, args?: readonly string[]): Promise<RunResult> {
    return this.#main.promptFromTemplate(name, args);
  }

  compact(options?: CompactOptions): Promise<CompactionResult> {
    return this.#main.compact(options);
  }

  navigateTree(targetId: string | null, options?: NavigateOptions): Promise<NavigationResult> {
    return this.#main.navigateTree(targetId, options);
  }

  resume(): Promise<ResumeResult> {
    return this.#main.resume();
  }

  steer(message: string | AgentMessage, images?: readonly ImageContent[]): Promise<QueueResult> {
    return this.#main.steer(message, images);
  }

  followUp(message: string | AgentMessage, images?: readonly ImageContent[]): Promise<QueueResult> {
    return this.#main.followUp(message, images);
  }

  nextRun(message: string | AgentMessage, images?: readonly ImageContent[]): Promise<NextRunResult> {
    return this.#main.nextRun(message, images);
  }

  abort(): Promise<AbortResult> {
    return this.#main.abort();
  }

  waitForIdle(): Promise<void> {
    return this.#main.waitForIdle();
  }

  runWhenIdle(callback: () => void | Promise<void>): Promise<void> {
    return this.#main.runWhenIdle(callback);
  }

  cancelQueued(entryId: string): Promise<CancelQueuedResult> {
    return this.#main.cancelQueued(entryId);
  }

  recordUsage(usage: Usage, options?: RecordUsageOptions): Promise<RecordUsageResult> {
    return this.#main.recordUsage(usage, options);
  }

  getModel(): Promise<Model | undefined> {
    return this.#main.getModel();
  }

  setModel(model: Model): Promise<void> {
    return this.#main.setModel(model);
  }

  getThinkingLevel(): Promise<ThinkingLevel> {
    return this.#main.getThinkingLevel();
  }

  setThinkingLevel(level: ThinkingLevel): Promise<void> {
    return this.#main.setThinkingLevel(level);
  }

  getActiveTools(): Promise<string[]> {
    return this.#main.getActiveTools();
  }

  setActiveTools(names: readonly string[]): Promise<void> {
    return this.#main.setActiveTools(names);
  }

  watch(): Promise<WatchHandle<LaneSnapshot>> {
    return this.#main.watch();
  }

  getLeafId(): Promise<string | null> {
    return this.#main.getLeafId();
  }

  getLastResult(): Promise<LaneLastResult | undefined> {
    return this.#main.getLastResult();
  }

  peekAction(): Promise<ActionInfo | undefined> {
    return this.#main.peekAction();
  }

  executeAction(): Promise<ActionInfo | undefined> {
    return this.#main.executeAction();
  }

  runToCompletion(): Promise<void> {
    return this.#main.runToCompletion();
  }
}
