/**
 * One attempt at a summary: which requests it makes, what their answers amount to, and the text that is stored
 * (compaction §4, §5, §7).
 *
 * Terms. *Stage*: what one request summarizes; the complete older turns (`history`), the beginning of a split turn
 * (`turn_prefix`), or a branch that is left (`branch`). An attempt makes the requests of its stages one after another;
 * the first answer that is no summary ends it. Nothing of an attempt is kept but its bills: the next one makes all its
 * requests again.
 *
 * Decided here. A summary without a character is a failure, and so is one that an adapter defers; neither is asked
 * again, because the retry policy is for errors. A previous summary to which no complete turn has come is stored as
 * it is, without a request.
 */
import {
  addUsage,
  type DurableStructuralPreparation,
  type NormalizedRetryPolicy,
  type OperationError,
  type SettledAssistantMessage,
  type Usage,
} from "../model/index.ts";
import { type FileLists, fileListsOf } from "./file-operations.ts";
import { isRetryableMessage } from "./retryable-patterns.ts";
import { OPERATION_ERROR_CODES } from "./synthetic.ts";

/** See the module header. */
export type SummaryStage = "history" | "turn_prefix" | "branch";

/** The summary that an attempt made, before it is an entry. */
export interface MadeSummary {
  readonly summary: string;
  /** Of this attempt alone; absent if it made no request. */
  readonly usage?: Usage;
  readonly details: FileLists;
}

/** What an attempt came to. */
export type AttemptOutcome =
  | { readonly kind: "success"; readonly made: MadeSummary }
  | { readonly kind: "retry" | "failure"; readonly error: OperationError };

/** The requests of one attempt, in order; none if there is nothing to ask for. */
export function stagesOf(preparation: DurableStructuralPreparation): readonly SummaryStage[] {
  if (preparation.kind === "branch_summary") return preparation.messages.length > 0 ? ["branch"] : [];
  const { messagesToSummarize, turnPrefixMessages } = preparation;
  return [
    ...(messagesToSummarize.length > 0 ? (["history"] as const) : []),
    ...(turnPrefixMessages.length > 0 ? (["turn_prefix"] as const) : []),
  ];
}

/** The stage that is asked for next; undefined: the answers say what the attempt came to. */
export function nextStage(
  preparation: DurableStructuralPreparation,
  responses: readonly SettledAssistantMessage[],
): SummaryStage | undefined {
  const newest = responses.at(-1);
  if (newest !== undefined && summaryTextOf(newest) === undefined) return undefined;
  return stagesOf(preparation)[responses.length];
}

/** What the answers of an attempt amount to, once there is no next stage. */
export function attemptOutcome(
  preparation: DurableStructuralPreparation,
  responses: readonly SettledAssistantMessage[],
  attempt: number,
  { maxAttempts }: NormalizedRetryPolicy,
): AttemptOutcome {
  const texts: string[] = [];
  for (const [index, response] of responses.entries()) {
    const text = summaryTextOf(response);
    if (text === undefined) return failureOf(response, stagesOf(preparation)[index], attempt, maxAttempts);
    texts.push(text);
  }
  const details = texts.length === 0 ? NO_FILES : fileListsOf(preparation.fileOps);
  const summary = `${bodyOf(preparation, texts)}${fileText(details)}`;
  const usage = sumOf(responses);
  return { kind: "success", made: { summary, ...(usage ? { usage } : {}), details } };
}

/** The text of an answer that is a summary. */
function summaryTextOf({ stopReason, content }: SettledAssistantMessage): string | undefined {
  if (stopReason !== "stop" && stopReason !== "length" && stopReason !== "toolUse") return undefined;
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return text.trim() === "" ? undefined : text;
}

function failureOf(
  { stopReason, errorMessage }: SettledAssistantMessage,
  stage: SummaryStage | undefined,
  attempt: number,
  maxAttempts: number,
): AttemptOutcome {
  const isError = stopReason === "error";
  const said = isError
    ? errorMessage || "the provider answered with an error and no message"
    : `the answer (${stopReason}) holds no text`;
  const error = {
    code: OPERATION_ERROR_CODES.summarizationFailed,
    message: `${STAGE_NAMES[stage ?? "history"]}: ${said}`,
  };
  const mayRetry = isError && attempt < maxAttempts && isRetryableMessage(errorMessage ?? "");
  return { kind: mayRetry ? "retry" : "failure", error };
}

const STAGE_NAMES: Record<SummaryStage, string> = {
  history: "summary of the history",
  turn_prefix: "summary of the turn's beginning",
  branch: "summary of the branch",
};

const NO_FILES: FileLists = { readFiles: [], modifiedFiles: [] };
const NO_HISTORY = "There is no earlier conversation.";
const PREFIX_HEADING = "**The turn that was cut: its beginning**";
const BRANCH_INTRODUCTION = "The user explored another branch of this conversation. This is its summary:";
const NOTHING_ON_BRANCH =
  "The user explored another branch of this conversation. There is nothing on it to summarize.";

function bodyOf(preparation: DurableStructuralPreparation, texts: readonly string[]): string {
  if (preparation.kind === "branch_summary") {
    const [text] = texts;
    return text === undefined ? NOTHING_ON_BRANCH : `${BRANCH_INTRODUCTION}\n\n${text}`;
  }
  const [first = "", second] = texts;
  if (preparation.turnPrefixMessages.length === 0) return first;
  const history = second === undefined ? (preparation.previousSummary ?? NO_HISTORY) : first;
  return `${history}\n\n---\n\n${PREFIX_HEADING}\n\n${second ?? first}`;
}

function fileText({ readFiles, modifiedFiles }: FileLists): string {
  const list = (tag: string, paths: readonly string[]) =>
    paths.length === 0 ? "" : `\n\n<${tag}>\n${paths.join("\n")}\n</${tag}>`;
  return list("read-files", readFiles) + list("modified-files", modifiedFiles);
}

function sumOf(responses: readonly SettledAssistantMessage[]): Usage | undefined {
  return responses
    .map(({ usage }) => usage)
    .reduce<Usage | undefined>((sum, usage) => (sum === undefined ? usage : addUsage(sum, usage)), undefined);
}
