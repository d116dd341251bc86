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
import type {
  BranchPreparation,
  CompactionPreparation,
  StructuralHookDecision,
  Summary,
} from "../operation/index.ts";
import { detachJson, type Session } from "../session/index.ts";
import type { Environment } from "./environment.ts";
import { type HookSite, startedHooks } from "./hook-pipeline.ts";
import { validUsage } from "./tool-call.ts";

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

/** What is decided on. */
export type DecisionWork = { readonly customInstructions: string | undefined } & (
  | {
      readonly kind: "compaction";
      readonly reason: "manual" | "threshold" | "overflow";
      readonly preparation: CompactionPreparation;
    }
  | { readonly kind: "branch_summary"; readonly targetId: string; readonly preparation: BranchPreparation }
);

/** Asks the handlers; see the module header. Undefined: a cancellation came first. */
export function askDecisionHooks(
  environment: Environment,
  site: HookSite,
  work: DecisionWork,
): Promise<StructuralHookDecision | undefined> {
  const { session } = environment;
  const asked = work.customInstructions === undefined ? {} : { customInstructions: work.customInstructions };
  if (work.kind === "compaction") {
    const event = { reason: work.reason, preparation: forHook(work.preparation), ...asked };
    return startedHooks(environment, site, "before_compaction", UNDECIDED, {
      event: () => event,
      apply: (state, { decline, compaction }) =>
        decisionOf(state, decline, compaction, (result) => compactionOf(session, result)),
      isFinal,
    });
  }
  const event = { targetId: work.targetId, preparation: forHook(work.preparation), ...asked };
  return startedHooks(environment, site, "before_navigation", UNDECIDED, {
    event: () => event,
    apply: (state, { decline, summary }) => decisionOf(state, decline, summary, branchSummaryOf),
    isFinal,
  });
}

const UNDECIDED = { initial: { kind: "generate" } as StructuralHookDecision, notStarted: undefined };

const isFinal = ({ kind }: StructuralHookDecision) => kind !== "generate";

function decisionOf<Result>(
  state: StructuralHookDecision,
  decline: boolean | undefined,
  supplied: Result | undefined,
  summaryOf: (supplied: Result) => Summary | undefined,
): StructuralHookDecision {
  if (supplied === undefined) return decline === true ? { kind: "decline" } : state;
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
