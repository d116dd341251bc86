/**
 * One nested request of a summary: what is sent, and the answer as it may be settled (compaction §4).
 *
 * No stream of it is shown to anybody, and no tool is offered. Its options are those that the step captured, with what
 * structural work forces: nothing cached, nothing deferred, a session id of its own. The id is that of its usage row,
 * which is as fresh as the request.
 *
 * Decided here: an output cap of 0 (nothing is reserved) asks for no cap but the model's own.
 */
import type {
  DurableStructuralPreparation,
  Model,
  ProviderContext,
  ProviderStreamOptions,
  SettledAssistantMessage,
} from "../model/index.ts";
import type { SummaryStage } from "../operation/index.ts";
import type { DriveState } from "./drive-state.ts";
import type { EffectPlan } from "./effects.ts";
import type { Environment } from "./environment.ts";
import { answerOf } from "./generation.ts";
import { SUMMARIZER_PROMPT, summaryPrompt } from "./summary-text.ts";

type SummaryPlan = Extract<EffectPlan, { kind: "summary" }>;

/** Sends the request of a plan. Failures of the provider are answers, as everywhere. */
export function requestSummary(
  environment: Environment,
  live: DriveState,
  plan: SummaryPlan,
): Promise<SettledAssistantMessage> {
  return answerOf(environment, live, {
    operation: plan.operation,
    model: plan.generation.context.configuration.model,
    prepare: async (model) => ({
      context: contextOf(plan, environment.clock.now()),
      options: optionsOf(plan, model, live.controller.signal),
    }),
  });
}

function contextOf({ preparation, stage, customInstructions }: SummaryPlan, nowMs: number): ProviderContext {
  const previousSummary = preparation.kind === "compaction" ? preparation.previousSummary : undefined;
  const text = summaryPrompt({
    stage,
    messages: messagesOf(preparation, stage),
    previousSummary,
    customInstructions,
  });
  return {
    systemPrompt: SUMMARIZER_PROMPT,
    messages: [{ role: "user", content: [{ type: "text", text }], timestamp: nowMs }],
  };
}

function messagesOf(preparation: DurableStructuralPreparation, stage: SummaryStage) {
  if (preparation.kind === "branch_summary") return preparation.messages;
  return stage === "turn_prefix" ? preparation.turnPrefixMessages : preparation.messagesToSummarize;
}

function optionsOf(
  { generation, streamOptions, preparation, stage }: SummaryPlan,
  model: Model,
  signal: AbortSignal,
): ProviderStreamOptions {
  const { configuration } = generation.context;
  const { thinkingLevel } = configuration;
  const isReasoned = stage !== "branch" && model.reasoning && thinkingLevel !== "off";
  const maxTokens = outputCap(preparation, stage, model);
  return {
    ...streamOptions,
    deferred: false,
    cacheRetention: "none",
    ...(isReasoned ? { reasoning: thinkingLevel } : {}),
    ...(maxTokens > 0 ? { maxTokens } : {}),
    ...(generation.request === undefined ? {} : { sessionId: generation.request.usageId }),
    signal,
  };
}

/** Tokens. */
const BRANCH_OUTPUT_CAP = 2048;
const HISTORY_SHARE = 0.8;
const PREFIX_SHARE = 0.5;

function outputCap(preparation: DurableStructuralPreparation, stage: SummaryStage, model: Model): number {
  const reserved = preparation.kind === "compaction" ? preparation.settings.reserveTokens : 0;
  const share = stage === "history" ? HISTORY_SHARE : PREFIX_SHARE;
  const wanted = stage === "branch" ? BRANCH_OUTPUT_CAP : Math.floor(share * reserved);
  return model.maxTokens > 0 ? Math.min(wanted, model.maxTokens) : wanted;
}
