/**
 * Provider context: a request shows the provider what its branch says, and a poll names the job that was put off.
 *
 * Terms. *Branch*: the entries from the lane's leaf to the newest compaction above it, or to the root (spec §2.5).
 * *Context*: what of them a provider is shown. Responses that ended in an error, a cancellation or a job are not; a
 * summary is said by the user; every call is answered once, right after the message that asks for it.
 *
 * Checks, when a request happens: who says what, in which order, with which calls; and of a request for a summary that
 * its summarizer is told every message that it will stand for, in their order. A runtime whose reading of a branch is
 * wrong commits nothing that is wrong, and no answer of a scripted provider depends on it, so nothing else can tell.
 *
 * Does not check: what else a summarizer is told, images and reasoning, texts behind their beginning (`shortened`), requests that
 * something overtook on their way out, and branches with custom entries that an application projects.
 */
import { type BillRow, type ShownMessage, type SummaryRow, shortened } from "../faults/index.ts";
import { jsonEquals } from "../foundation/index.ts";
import type { AgentMessage, DurableStructuralPreparation, Entry, OperationState } from "../model/index.ts";
import type { HarnessCheck, HarnessCheckRun, Report } from "./harness-check.ts";
import { isInContext } from "./in-context.ts";
import { assistantIn, callsIn, decisionOf } from "./rows/site.ts";
import type { StoreModel } from "./store-model.ts";

export const providerContext: HarnessCheck = {
  name: "provider-context",
  promise:
    "a request shows the provider exactly what its branch says, and a poll names the job that was put off",
  doesNotCheck: "what else a summarizer is told, and requests that something overtook on their way out",
  start: () => run,
};

const run: HarnessCheckRun = {
  event: (event, model, report) => {
    if (event.kind !== "effect" || event.overtakenBy !== undefined) return;
    const { row } = event;
    if (row.kind === "summary") checkTold(row, model, report);
    if (row.kind !== "request") return;
    const lane = row.lane ?? FIRST_LANE;
    const state = model.value("op.state", model.value("lane.state", lane)?.currentOperationId ?? "");
    // Without an intent there is nothing to hold it against; effect safety says so.
    if (state?.kind !== "run") return;
    if (row.shown !== undefined && isAsking(state)) checkShown(row, lane, model, report);
    if (row.job !== undefined) checkJob(row, state, model, report);
  },
  fork: () => run,
};

const FIRST_LANE = "main";

function isAsking({ phase }: Extract<OperationState, { kind: "run" }>): boolean {
  return phase.kind === "assistant" && phase.generation.status === "effect_pending";
}

function checkShown(
  { turn, ask, shown = [] }: BillRow,
  lane: string,
  model: StoreModel,
  report: Report,
): void {
  const expected = contextAt(model.value("lane.leaf", lane) ?? null, model);
  const length = Math.max(expected.length, shown.length);
  for (let index = 0; index < length; index++) {
    const [said, message] = [expected[index], shown[index]];
    if (said !== undefined && message !== undefined && isShownAs(said, message)) continue;
    report(
      "context other than the branch",
      `request ${ask} of turn ${turn} shows at ${index} ${textOf(message)}; the branch says ${textOf(said?.shown)}`,
    );
    return;
  }
}

function checkJob(
  { turn, job }: BillRow,
  { phase }: Extract<OperationState, { kind: "run" }>,
  model: StoreModel,
  report: Report,
): void {
  if (phase.kind !== "deferred") return;
  const handle = assistantIn(model.entry(phase.deferred.sourceEntryId))?.deferred;
  if (handle === undefined || handle.id === job) return;
  report("poll of another job", `turn ${turn} was put off as job ${handle.id}, and ${job} was polled`);
}

function checkTold({ task, index, told }: SummaryRow, model: StoreModel, report: Report): void {
  const preparation = underWay(model);
  if (told === undefined || preparation === undefined) return;
  let from = 0;
  for (const { shown } of (partsOf(preparation)[index] ?? []).flatMap(saidIn)) {
    const text = shown.text.slice(0, SUMMARY_PART);
    const at = told.indexOf(text, from);
    if (at < 0) {
      const missing = JSON.stringify(text);
      report("a summarizer is not told", `request ${index} of summary ${task} says nothing of ${missing}`);
      return;
    }
    from = at;
  }
}

/**
 * What was prepared for the summary that is being made. Earlier compactions of a run leave their preparations until it
 * ends. No scenario with several lanes comes to a summary, so one is made at a time.
 */
function underWay(model: StoreModel): DurableStructuralPreparation | undefined {
  for (const { key, value } of model.registers("op.state")) {
    const decision = decisionOf(value);
    if (decision?.status === "generating") return model.value("op.preparation", `${key}:${decision.taskId}`);
  }
  return undefined;
}

/** What the requests of an attempt are about, in their order. */
function partsOf(preparation: DurableStructuralPreparation): readonly (readonly AgentMessage[])[] {
  if (preparation.kind === "branch_summary") return [preparation.messages];
  const { messagesToSummarize, turnPrefixMessages } = preparation;
  return [messagesToSummarize, turnPrefixMessages].filter(({ length }) => length > 0);
}

/** A message of a context; of a summary only what it has to hold is known, and of an answer that is missing nothing. */
interface Said {
  readonly shown: ShownMessage;
  readonly isPart: boolean;
}

/** What a provider is to be shown at a leaf, oldest first. */
function contextAt(leaf: string | null, model: StoreModel): readonly Said[] {
  const said: Said[] = [];
  let open: string[] = [];
  const closeCalls = () => {
    for (const answers of open) said.push(part({ by: "tool", text: "", answers }));
    open = [];
  };
  for (const message of branchAt(leaf, model).flatMap(saidBy)) {
    const { by, calls = [], answers } = message.shown;
    if (by !== "tool") {
      closeCalls();
      open = [...calls];
    } else {
      if (!open.includes(answers ?? "")) continue;
      open = open.filter((id) => id !== answers);
    }
    said.push(message);
  }
  closeCalls();
  return said;
}

/** The entries of a branch, oldest first. */
function branchAt(leaf: string | null, model: StoreModel): readonly Entry[] {
  const entries: Entry[] = [];
  for (let id = leaf; id !== null; ) {
    const entry = model.entry(id);
    if (entry === undefined) break;
    entries.push(entry);
    if (entry.type === "compaction") break;
    id = entry.parentId;
  }
  return entries.reverse();
}

function saidBy(entry: Entry): readonly Said[] {
  switch (entry.type) {
    case "message":
      return saidIn(entry.message);
    case "compaction":
      return [summary(entry.summary), ...entry.retainedTail.flatMap(saidIn)];
    case "branch_summary":
      return entry.summary === "" ? [] : [summary(entry.summary)];
    case "custom":
      return [];
  }
}

/** A message never changes, and every later request of its branch asks for it again. */
function saidIn(message: AgentMessage): readonly Said[] {
  const known = saidBefore.get(message);
  if (known !== undefined) return known;
  const said = readIn(message);
  if (Object.isFrozen(message)) saidBefore.set(message, said);
  return said;
}

const saidBefore = new WeakMap<AgentMessage, readonly Said[]>();

function readIn(message: AgentMessage): readonly Said[] {
  switch (message.role) {
    case "user":
    case "custom":
      return [whole({ by: "user", text: shortened(wordsIn(message.content)) })];
    case "assistant": {
      if (!isInContext(message)) return [];
      const calls = callsIn(message).map(({ id }) => id);
      const text = shortened(wordsIn(message.content ?? []));
      return [whole(calls.length === 0 ? { by: "model", text } : { by: "model", text, calls })];
    }
    case "toolResult": {
      const text = shortened(wordsIn(message.content ?? []));
      return [whole({ by: "tool", text, answers: message.toolCallId })];
    }
    case "branchSummary":
    case "compactionSummary":
      return [summary(message.summary)];
    case "bashExecution":
      return message.excludeFromContext === true ? [] : [part({ by: "user", text: message.command })];
  }
}

function summary(text: string): Said {
  return part({ by: "user", text: text.slice(0, SUMMARY_PART) });
}

function whole(shown: ShownMessage): Said {
  return { shown, isPart: false };
}

function part(shown: ShownMessage): Said {
  return { shown, isPart: true };
}

/** Characters of a summary that its message shows in any case, whatever is said around it. */
const SUMMARY_PART = 200;

function isShownAs({ isPart, shown }: Said, message: ShownMessage): boolean {
  if (!isPart) return jsonEquals(shown, message);
  return jsonEquals({ ...shown, text: "" }, { ...message, text: "" }) && message.text.includes(shown.text);
}

function wordsIn(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.flatMap(({ type, text }) => (type === "text" ? (text ?? []) : [])).join("\n");
}

function textOf(message: ShownMessage | undefined): string {
  return message === undefined ? "nothing" : JSON.stringify(message);
}
