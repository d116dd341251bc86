/**
 * The decision hooks of structural work: `before_compaction` and `before_navigation` (spec §5.6).
 *
 * A hook may decline the work, or supply its result, or leave it to the summarizer. The first that does one of the
 * first two ends the matter. A handler that throws, answers both, or supplies what cannot be stored is passed over as
 * if it had not been there: what a hook gets wrong never reaches a commit.
 *
 * Handlers run until their answer is durable, so a crash may run them again; they see the preparation that is stored,
 * and what they are given is theirs to change.
 */
import { NotJson } from "../foundation/index.ts";
import type {
  AgentMessage,
  DurableFileOperations,
  DurableStructuralPreparation,
  JsonValue,
  Usage,
} from "../model/index.ts";
import type { StructuralHookDecision, Summary } from "../operation/index.ts";
import { detachJson, type Session } from "../session/index.ts";
import type { EffectPlan } from "./effects.ts";
import type { Environment } from "./environment.ts";
import { reportHook } from "./hook-pipeline.ts";
import type { HookHandler } from "./hooks.ts";
import type { TelemetryContext } from "./telemetry.ts";
import { validUsage } from "./tools.ts";

/** A preparation as hooks see it: file operations as sets. */
export type HookPreparation<Kind extends DurableStructuralPreparation["kind"]> = Omit<
  Extract<DurableStructuralPreparation, { kind: Kind }>,
  "kind" | "fileOps"
> & { fileOps: { [List in keyof DurableFileOperations]: Set<string> } };

/** A compaction that a hook supplies. */
export interface CompactResult {
  summary: string;
  /** Tokens. */
  tokensBefore: number;
  usage?: Usage;
  retainedTail: AgentMessage[];
  details?: JsonValue;
}

/** A branch summary that a hook supplies. */
export interface BranchSummaryResult {
  summary: string;
  usage?: Usage;
  readFiles: string[];
  modifiedFiles: string[];
}

type DecisionHook = "before_compaction" | "before_navigation";

type DecisionPlan = Extract<EffectPlan, { kind: "decision" }>;

/** Asks the handlers; see the module header. */
export async function askDecisionHooks(
  environment: Environment,
  plan: DecisionPlan,
  within: TelemetryContext,
): Promise<StructuralHookDecision> {
  const { session } = environment;
  const { lane, operationId: runId } = plan.operation;
  const { work } = plan;
  const asked = plan.customInstructions === undefined ? {} : { customInstructions: plan.customInstructions };
  if (work.kind === "compaction") {
    const { reason, preparation } = work;
    return firstDecision(environment, { lane, within }, "before_compaction", async (handler) => {
      const answer = await handler({ lane, runId, reason, preparation: forHook(preparation), ...asked });
      return decisionOf(answer?.decline, answer?.compaction, (result) => compactionOf(session, result));
    });
  }
  const { targetId, preparation } = work;
  return firstDecision(environment, { lane, within }, "before_navigation", async (handler) => {
    const answer = await handler({ lane, runId, targetId, preparation: forHook(preparation), ...asked });
    return decisionOf(answer?.decline, answer?.summary, branchSummaryOf);
  });
}

async function firstDecision<Name extends DecisionHook>(
  environment: Environment,
  { lane, within }: { readonly lane: string; readonly within: TelemetryContext },
  name: Name,
  ask: (handler: HookHandler<Name>) => Promise<StructuralHookDecision | undefined>,
): Promise<StructuralHookDecision> {
  for (const { handler } of environment.hooks.of(name)) {
    const span = within.start("pi.harness.hook", { "pi.harness.hook_name": name });
    try {
      const decision = await ask(handler);
      span.end();
      if (decision !== undefined) return decision;
    } catch (error) {
      span.end({ "pi.harness.is_error": true });
      environment.lifecycle.admit();
      reportHook(environment, lane, name, error);
    }
  }
  return { kind: "generate" };
}

function decisionOf<Result>(
  decline: boolean | undefined,
  supplied: Result | undefined,
  summaryOf: (supplied: Result) => Summary | undefined,
): StructuralHookDecision | undefined {
  if (supplied === undefined) return decline === true ? { kind: "decline" } : undefined;
  if (decline === true) throw new Error("a handler declines or supplies a result, not both");
  const summary = summaryOf(supplied);
  if (summary === undefined) throw new Error("a handler supplied a result that cannot be stored");
  return { kind: "supply", summary };
}

function compactionOf(session: Session, supplied: CompactResult): Summary | undefined {
  const { summary, tokensBefore, retainedTail, details, usage } = supplied;
  if (typeof summary !== "string" || !Number.isSafeInteger(tokensBefore) || tokensBefore < 0)
    return undefined;
  if (!Array.isArray(retainedTail)) return undefined;
  const tail: AgentMessage[] = [];
  for (const message of retainedTail) {
    const admitted = session.admitMessage(message);
    if (!admitted.ok) return undefined;
    tail.push(admitted.value);
  }
  const common = commonOf(summary, details, usage);
  return common && { kind: "compaction", ...common, retainedTail: tail, tokensBefore };
}

function branchSummaryOf(supplied: BranchSummaryResult): Summary | undefined {
  const { summary, readFiles, modifiedFiles, usage } = supplied;
  if (typeof summary !== "string" || !isPathList(readFiles) || !isPathList(modifiedFiles)) return undefined;
  const common = commonOf(summary, { readFiles, modifiedFiles }, usage);
  return common && { kind: "branch_summary", ...common };
}

function isPathList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((path) => typeof path === "string");
}

function commonOf(summary: string, details: JsonValue | undefined, usage: Usage | undefined) {
  const kept = validUsage(usage);
  if (usage !== undefined && kept === undefined) return undefined;
  try {
    return {
      summary: detachJson(summary),
      ...(details === undefined ? {} : { details: detachJson(details) }),
      ...(kept === undefined ? {} : { usage: kept }),
    };
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

function forHook<Preparation extends DurableStructuralPreparation>(
  preparation: Preparation,
): HookPreparation<Preparation["kind"]> {
  const { kind: _kind, fileOps, ...rest } = structuredClone(preparation);
  const { read, written, edited } = fileOps;
  const sets = { read: new Set(read), written: new Set(written), edited: new Set(edited) };
  return { ...rest, fileOps: sets } as unknown as HookPreparation<Preparation["kind"]>;
}
