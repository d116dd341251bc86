/**
 * Effect safety: nothing happens outside that the session had not written down first, and nothing that must not be
 * repeated is.
 *
 * Terms. *Intent*: the durable state that lets an effect start: an assistant generation, a poll or a summary request in
 * `effect_pending`, a tool call in `effect_pending` with its stored arguments. *Lost*: the intent is of an earlier life.
 *
 * Checks, at the moment at which an effect happens in the world.
 * 1. A request has an intent of this life that no request has used; a lost intent is never requested again.
 * 2. A step is requested at most as often as its captured policy allows, and the attempt is within it.
 * 3. A tool call has an intent, and runs with exactly the stored arguments.
 * 4. A `never` call runs at most once, over all lives; a `safe` one at most once in each life.
 * 5. What a new intent says of a tool's replay is what the tool declares in this life.
 * 6. Nothing starts while a cancellation is durable (what was started before it may happen after it), which it stays until
 *    the operation has ended; and a decision hook runs only while there is something to decide.
 * And at the moment at which an effect is settled:
 * 7. A response that is no error follows a request, and a result that is no error an execution, of the same life.
 * 8. Their content is what the world answered; a generated summary holds what its attempt was answered. A runtime that loses answers loses them with and without a crash, so no
 *    comparison of two of its runs can tell.
 *
 * Does not check: that an intent is followed by its effect (a crash may fall between), whether a tool that calls itself
 * `safe` is (`replay-check` measures that), and hooks, which are idempotent by contract.
 */

import {
  type AskedWith,
  type BillRow,
  type CancellationRow,
  type DecisionRow,
  declaredReplay,
  type EffectRow,
  filledIn,
  type Scenario,
  type SummaryRow,
  summaryReply,
  turnReply,
} from "../faults/index.ts";
import { canonicalJson, jsonEquals } from "../foundation/index.ts";
import type { EntryDraft, OperationState, ToolCall } from "../model/index.ts";
import { callIntents, isPendingRequest, type RequestIntent, requestIntents } from "./effect-intents.ts";
import type { HarnessCheck, HarnessCheckRun, ObservedCommit, OtherEvent, Report } from "./harness-check.ts";
import { statesOf } from "./lane-states.ts";
import { OUTSIDE_ROW } from "./rows/outside.ts";
import { assistantIn, callsIn, decisionOf, summaryOf, toolResultIn } from "./rows/site.ts";
import { Since } from "./since.ts";
import type { StoreModel } from "./store-model.ts";

export const effectSafety: HarnessCheck = {
  name: "effect-safety",
  promise:
    "no effect before its durable intent, none after its settlement, and none again that must not be repeated",
  doesNotCheck: "whether intents are followed by effects, and whether tools that declare themselves safe are",
  start: (scenario) => new EffectSafetyRun(scenario),
};

class EffectSafetyRun implements HarnessCheckRun {
  readonly #scenario: Scenario;
  /** Requests by intent, and by step. */
  readonly #requests: Map<string, number>;
  /** What the world answered, by intent of a request or reserved result id. */
  readonly #answers: Map<string, Answer>;
  /** Executions by reserved result id: over all lives, and in which life the last one was. */
  readonly #executions: Map<string, { readonly count: number; readonly life: number }>;
  readonly #sinceCancellation: Since;
  /** Since an operation was ended by somebody else, with the intents that went with it. */
  readonly #sinceOutsideEnd: Since;
  #endedIntents: readonly RequestIntent[];

  constructor(scenario: Scenario, from?: EffectSafetyRun) {
    this.#scenario = scenario;
    this.#requests = new Map(from === undefined ? [] : from.#requests);
    this.#answers = new Map(from === undefined ? [] : from.#answers);
    this.#executions = new Map(from === undefined ? [] : from.#executions);
    this.#sinceCancellation = from === undefined ? new Since() : from.#sinceCancellation.fork();
    this.#sinceOutsideEnd = from === undefined ? new Since() : from.#sinceOutsideEnd.fork();
    this.#endedIntents = from === undefined ? [] : from.#endedIntents;
  }

  fork(): EffectSafetyRun {
    return new EffectSafetyRun(this.#scenario, this);
  }

  unreadable(): void {
    this.#count();
  }

  before({ writes, found }: ObservedCommit, model: StoreModel, report: Report): void {
    this.#count();
    if (found.ok && found.name === OUTSIDE_ROW) {
      this.#sinceOutsideEnd.happened();
      this.#endedIntents = found.site.before === undefined ? [] : requestIntents(found.site.before);
    }
    for (const write of writes) {
      if (write.kind === "entry") {
        this.#checkOrigin(write.entry, model, report);
        this.#checkSummary(write.entry, model, report);
      }
      if (write.kind !== "register" || write.op !== "set" || write.namespace !== "op.state") continue;
      const isCancelled = write.value.control.status === "cancel_requested";
      const wasCancelled = model.value("op.state", write.key)?.control.status === "cancel_requested";
      if (isCancelled && !wasCancelled) this.#sinceCancellation.happened();
      if (wasCancelled && !isCancelled) {
        report(
          "cancellation taken back",
          `operation ${write.key} was cancelled, and is to go on all the same`,
        );
      }
      this.#checkDeclarations(write.value, model, report);
    }
  }

  #count(): void {
    this.#sinceCancellation.passed();
    this.#sinceOutsideEnd.passed();
  }

  event(event: OtherEvent, model: StoreModel, report: Report): void {
    if (event.kind === "boot") {
      this.#sinceCancellation.forget();
      this.#sinceOutsideEnd.forget();
    } else this.#count();
    if (event.kind !== "effect") return;
    const { row, overtakenBy = 0 } = event;
    // Whoever started it could not know of a cancellation that came after that.
    const isOvertaken = this.#sinceCancellation.isAmongLast(overtakenBy);
    switch (row.kind) {
      case "request":
      case "summary":
        this.#request(row, { isOvertaken, overtakenBy }, model, report);
        return;
      case "decision":
        this.#decide(row, isOvertaken, model, report);
        return;
      case "cancellation":
        this.#cancel(row, model, report);
        return;
      case "tool":
        this.#execute(row, isOvertaken, model, report);
    }
  }

  /** A job is given up after a durable cancellation only; which one of its sources is named is not checked. */
  #cancel({ job }: CancellationRow, model: StoreModel, report: Report): void {
    const isCancelled = model.registers("op.state").some(({ value }) => {
      return value.control.status === "cancel_requested";
    });
    if (!isCancelled)
      report("job given up without a cancellation", `job ${job} was given up, and nobody cancelled`);
  }

  /** A hook decides what is still to be decided, and nothing that is cancelled. */
  #decide(row: DecisionRow, isOvertaken: boolean, model: StoreModel, report: Report): void {
    const states = model.registers("op.state").map(({ value }) => value);
    const undecided = states.find((state) => decisionOf(state)?.status === "deciding");
    const what = `the hook for work ${row.task}`;
    if (undecided === undefined) {
      report("hook without a decision to make", `${what} ran, and nothing is to be decided`);
    } else if (undecided.control.status === "cancel_requested" && !isOvertaken) {
      report("hook after a cancellation", `${what} ran after a durable cancellation`);
    }
  }

  #request(
    row: BillRow | SummaryRow,
    { isOvertaken, overtakenBy }: { readonly isOvertaken: boolean; readonly overtakenBy: number },
    model: StoreModel,
    report: Report,
  ): void {
    const what =
      row.kind === "request"
        ? `request ${row.ask} of turn ${row.turn}`
        : `request ${row.index} of summary ${row.task}, attempt ${row.attempt}`;
    const lane = row.kind === "request" ? row.lane : undefined;
    const durable = statesOf(this.#scenario, lane, model).flatMap((value) => requestIntents(value));
    const ended = this.#sinceOutsideEnd.isAmongLast(overtakenBy) ? this.#endedIntents : [];
    const intents = [...durable, ...ended];
    const intent = intents.find(({ id }) => !this.#requests.has(id)) ?? intents[0];
    if (intent === undefined) {
      report("request without an intent", `${what} was sent, and no operation has a durable request intent`);
      return;
    }
    const count = (this.#requests.get(intent.id) ?? 0) + 1;
    this.#requests.set(intent.id, count);
    this.#answers.set(intent.id, responseTo(row, this.#scenario, { asked: intent.asked, life: model.life }));
    if (model.isFromEarlierLife(intent.lifeId)) {
      report("request under a lost intent", `${what} was sent under an intent of an earlier life`);
    } else if (count > 1) {
      report("request twice under one intent", `${what} was sent for the ${count}th time under one intent`);
    }
    if (intent.isCancelled && !isOvertaken)
      report("request after a cancellation", `${what} was sent after a durable cancellation`);
    if (intent.maxRequests === undefined) return;
    const ofStep = (this.#requests.get(intent.stepId) ?? 0) + 1;
    this.#requests.set(intent.stepId, ofStep);
    if (ofStep > intent.maxRequests) {
      report(
        "more requests than the captured policy allows",
        `${what} is the ${ofStep}th of its step, whose policy allows ${intent.maxRequests}`,
      );
    }
  }

  #execute(row: EffectRow, isOvertaken: boolean, model: StoreModel, report: Report): void {
    const what = `${row.tool} (${row.callId})`;
    const call = callIntents(model).find(
      ({ source }) => source.id === row.callId && source.name === row.tool,
    );
    if (call === undefined) {
      report("tool call without an intent", `${what} ran, and no open batch has such a call`);
      return;
    }
    if (call.call.status !== "effect_pending") {
      const when = call.call.status === "planned" ? "before its intent" : "after its settlement";
      report(`tool call ${when}`, `${what} ran ${when}: the call is ${call.call.status}`);
    }
    const stored = model.value("op.tool_args", call.argsKey);
    const storedText = stored === undefined ? undefined : canonicalJson(stored);
    if (call.call.status === "effect_pending" && storedText !== row.argumentsText) {
      report(
        "tool call with other arguments than the stored ones",
        `${what} ran with ${row.argumentsText}; stored are ${storedText ?? "none"}`,
      );
    }
    if (call.isCancelled && !isOvertaken)
      report("tool call after a cancellation", `${what} ran after a durable cancellation`);
    this.#answers.set(call.call.resultEntryId, resultOf(row, this.#scenario));
    const earlier = this.#executions.get(call.call.resultEntryId);
    this.#executions.set(call.call.resultEntryId, { count: (earlier?.count ?? 0) + 1, life: model.life });
    if (earlier === undefined) {
      if (model.isFromEarlierLife(call.call.resultEntryId) && this.#isNever(call.call, row.tool, model)) {
        report("never call started under a lost intent", `${what} ran under an intent of an earlier life`);
      }
      return;
    }
    if (this.#isNever(call.call, row.tool, model)) {
      report("never call twice", `${what} is never to be run again, and ran ${earlier.count + 1} times`);
    } else if (earlier.life === model.life) {
      report("safe call twice in one life", `${what} ran twice in life ${model.life}`);
    }
  }

  /** What is settled as real must have happened. Only reserved ids are asked: other entries are not effects. */
  #checkOrigin(entry: EntryDraft, model: StoreModel, report: Report): void {
    const stopReason = assistantIn(entry)?.stopReason;
    const isAnswer = stopReason !== undefined && stopReason !== "error" && stopReason !== "aborted";
    if (isAnswer && isPendingRequest(entry.id, model) && !this.#requests.has(entry.id)) {
      report(
        "response without a request",
        `response ${entry.id} is settled as ${stopReason}, and was never asked for`,
      );
    }
    if (isAnswer) this.#checkContent("response", entry.id, assistantIn(entry)?.content, report);
    const result = toolResultIn(entry);
    if (result === undefined || result.isError) return;
    if (this.#executions.get(entry.id)?.life !== model.life) {
      report(
        "result without an execution",
        `result ${entry.id} of ${result.toolName} is settled as real, and the call did not run in this life`,
      );
    }
    this.#checkContent("result", entry.id, result.content, report);
  }

  /** A generated summary holds what its attempt was answered, request by request. */
  #checkSummary(entry: EntryDraft, model: StoreModel, report: Report): void {
    if (entry.type !== "compaction" && entry.type !== "branch_summary") return;
    if (entry.fromHook) return;
    const pending = model
      .registers("op.state")
      .map(({ value }) => summaryOf(value).effect_pending)
      .find((each) => each?.context.resultEntryId === entry.id);
    for (const usageId of pending?.usageIds ?? []) {
      const answer = this.#answers.get(usageId);
      if (answer === undefined) continue;
      const text = answer === "error" ? "an error" : textOf(answer);
      if (answer !== "error" && entry.summary.includes(text)) continue;
      report(
        "summary other than the answer",
        `summary ${entry.id} is ${cutOff(JSON.stringify(entry.summary))}; an answer was ${cutOff(JSON.stringify(text))}`,
      );
    }
  }

  #checkContent(what: "response" | "result", id: string, content: unknown, report: Report): void {
    const answer = this.#answers.get(id);
    if (answer === undefined || jsonEquals(content, answer)) return;
    const rewritten = this.#scenario.rewrites?.[what];
    if (rewritten !== undefined && jsonEquals(content, [{ type: "text", text: rewritten }])) return;
    const said = answer === "error" ? "an error" : cutOff(JSON.stringify(answer));
    report(
      `${what} other than the answer`,
      `${what} ${id} is settled as ${cutOff(JSON.stringify(content))}; the answer was ${said}`,
    );
  }

  #isNever(call: ToolCall, tool: string, model: StoreModel): boolean {
    const isStoredSo = call.status === "effect_pending" && call.replay === "never";
    return isStoredSo || this.#declared(tool, model) === "never";
  }

  #declared(toolName: string, { life }: StoreModel): "never" | "safe" | undefined {
    const tool = this.#scenario.tools.find(({ name }) => name === toolName);
    return tool && declaredReplay(tool, life);
  }

  #checkDeclarations(state: OperationState, model: StoreModel, report: Report): void {
    if (state.kind !== "run" || state.phase.kind !== "tools") return;
    const source = callsIn(assistantIn(model.entry(state.phase.batch.assistantEntryId)));
    state.phase.batch.calls.forEach((call, index) => {
      const name = source[index]?.name;
      if (call.status !== "effect_pending" || name === undefined) return;
      // An intent of an earlier life says what was declared then.
      if (model.isFromEarlierLife(call.resultEntryId)) return;
      const declared = this.#declared(name, model);
      if (declared === undefined || declared === call.replay) return;
      report(
        "intent with another replay than the tool declares",
        `${name} declares ${declared}, its durable intent says ${call.replay}`,
      );
    });
  }
}

/** The content of a message, as the world's script says it; undefined where it has no such turn or tool. */
type Answer = readonly object[] | "error" | undefined;

function responseTo(
  row: BillRow | SummaryRow,
  scenario: Scenario,
  { asked, life }: { readonly asked: AskedWith | undefined; readonly life: number },
): Answer {
  const reply = row.kind === "summary" ? summaryReply(scenario, row) : turnReply(scenario, row, life);
  if (reply === undefined) return undefined;
  if (reply.fault !== undefined) return "error";
  const calls = (reply.toolCalls ?? []).map(({ argumentsText: _, ...call }) => ({
    type: "toolCall",
    ...call,
  }));
  if (reply.text === undefined) return calls;
  const text = asked === undefined ? reply.text : filledIn(reply.text, asked);
  return [{ type: "text", text }, ...calls];
}

function resultOf({ tool, callId, argumentsText }: EffectRow, { tools }: Scenario): Answer {
  const scripted = tools.find(({ name }) => name === tool);
  if (scripted?.faults?.[callId] !== undefined) return "error";
  const does = scripted?.does;
  switch (does?.kind) {
    case "answers":
      return [{ type: "text", text: does.text.replaceAll("{arguments}", () => argumentsText) }];
    case "answersBytes":
      return [{ type: "text", text: "x".repeat(does.byteCount) }];
    case "throws":
      return "error";
    case undefined:
      return undefined;
  }
}

function textOf(blocks: readonly object[]): string {
  return blocks.flatMap((block) => ("text" in block ? [String(block.text)] : [])).join("\n");
}

function cutOff(text: string | undefined): string {
  return text === undefined || text.length <= TEXT_MAX ? String(text) : `${text.slice(0, TEXT_MAX)}…`;
}

/** The most of a content that a message shows. */
const TEXT_MAX = 200;
