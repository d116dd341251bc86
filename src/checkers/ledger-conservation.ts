/**
 * Ledger conservation: every cost is in the ledger once, and nothing is there that was not billed.
 *
 * Terms. *Bill*: what the scripted world charged: each request, and each hook and each execution of a tool that reports
 * usage.
 * *Lost*: a charge whose intent was pending when the process died; nobody learned of it, and the policy table calls
 * its outcome unknown (spec §4.5).
 *
 * Checks.
 * 1. After every commit `getStats` equals the sum of the ledger and the count of message entries (spec §1.6).
 * 2. A settlement books exactly what its own request or execution was charged.
 * 3. A charge is booked nowhere only if it was lost; a synthetic settlement books zero.
 * 4. At the end the ledger and the losses together equal the bill, row for row.
 *
 * Does not check: prices (the world derives them from tokens), and rows that a caller books as adjustments.
 */
import type { Scenario, ScriptedUsage, WorldRow } from "../faults/index.ts";
import { type OperationState, type Usage, type UsageRowDraft, zeroUsage } from "../model/index.ts";
import type { RunEnd } from "./contract.ts";
import type { HarnessCheck, HarnessCheckRun, ObservedCommit, OtherEvent, Report } from "./harness-check.ts";
import { statesOf } from "./lane-states.ts";
import { OUTSIDE_ROW } from "./rows/outside.ts";
import { assistantIn, callsIn, decisionOf } from "./rows/site.ts";
import { Since } from "./since.ts";
import type { StoreModel } from "./store-model.ts";

export const ledgerConservation: HarnessCheck = {
  name: "ledger-conservation",
  promise:
    "stats equal the ledger after every commit, and the ledger equals the bill short of what a crash made unknown",
  doesNotCheck: "prices, and adjustments that a caller books",
  start: (scenario) => new LedgerRun(scenario),
};

/** A charge that is waiting for its settlement: what it was, and under which reserved id it will be settled. */
interface OpenCharge {
  readonly usage: ScriptedUsage;
  readonly life: number;
}

class LedgerRun implements HarnessCheckRun {
  readonly #scenario: Scenario;
  /** By usage id of a request, by result id of a call, or by the task that a hook decides. */
  readonly #open: Map<string, readonly OpenCharge[]>;
  readonly #lost: ScriptedUsage[];
  readonly #sinceOutsideEnd: Since;

  constructor(scenario: Scenario, from?: LedgerRun) {
    this.#scenario = scenario;
    this.#open = new Map(from === undefined ? [] : from.#open);
    this.#lost = from === undefined ? [] : [...from.#lost];
    this.#sinceOutsideEnd = from === undefined ? new Since() : from.#sinceOutsideEnd.fork();
  }

  fork(): LedgerRun {
    return new LedgerRun(this.#scenario, this);
  }

  event(event: OtherEvent, model: StoreModel): void {
    if (event.kind === "boot") this.#sinceOutsideEnd.forget();
    else this.#sinceOutsideEnd.passed();
    if (event.kind === "effect") this.#charge(event.row, event.overtakenBy ?? 0, model);
  }

  before({ writes, found }: ObservedCommit, model: StoreModel, report: Report): void {
    this.#sinceOutsideEnd.passed();
    if (found.ok && found.name === OUTSIDE_ROW) this.#endedOutside(found.site.before, model);
    for (const write of writes) {
      if (write.kind === "usage") this.#book(write.row, model, report);
    }
    for (const write of writes) {
      if (write.kind === "entry") this.#settleCall(write.entry.id, model, report);
      if (write.kind === "register" && write.namespace === "op.state") {
        const next = write.op === "set" ? write.value : undefined;
        this.#giveUp(model.value("op.state", write.key), next, model, report);
      }
    }
  }

  after({ stats }: ObservedCommit, model: StoreModel, report: Report): void {
    const expected = model.stats;
    if (stats.messageCount !== expected.messageCount) {
      report(
        "stats count other messages",
        `getStats says ${stats.messageCount} messages, there are ${expected.messageCount}`,
      );
    }
    const difference = usageDifference(expected.usage, stats.usage);
    if (difference !== undefined) {
      report("stats differ from the ledger", `getStats differs from the sum of the ledger at ${difference}`);
    }
  }

  finish(end: RunEnd, model: StoreModel, report: Report): void {
    const lost = [...this.#lost];
    for (const charges of this.#open.values()) lost.push(...charges.map(({ usage }) => usage));
    const booked = model.usageRows().filter(({ adjustment, usage }) => !adjustment && !isZero(usage));
    const left = countBy([
      ...booked.map(({ usage }) => `${usage.input} + ${usage.output} tokens`),
      ...lost.map(tokensText),
    ]);
    for (const usage of end.rows.flatMap((row) => chargeOf(row, this.#scenario) ?? [])) {
      left.set(tokensText(usage), (left.get(tokensText(usage)) ?? 0) - 1);
    }
    for (const [tokens, count] of left) {
      if (count > 0) {
        report(
          "the ledger books what was not billed",
          `${count} × ${tokens} stand in the ledger and on no bill`,
        );
      } else if (count < 0) {
        report(
          "the bill charges what is not in the ledger",
          `${-count} × ${tokens} were billed and are not booked`,
        );
      }
    }
  }

  #charge(row: WorldRow, overtakenBy: number, model: StoreModel): void {
    const usage = chargeOf(row, this.#scenario);
    if (usage === undefined) return;
    const key = chargeKey(row, model, this.#open, this.#scenario);
    // What it was started for has been ended meanwhile, and nobody is left to book it.
    if (key === undefined && this.#sinceOutsideEnd.isAmongLast(overtakenBy)) this.#lost.push(usage);
    // Without an intent nothing will settle it; effect safety says so, and the bill will not add up.
    if (key === undefined) return;
    this.#open.set(key, [...(this.#open.get(key) ?? []), { usage, life: model.life }]);
  }

  #book(row: UsageRowDraft, model: StoreModel, report: Report): void {
    if (row.adjustment) return;
    const keys = [row.id, row.entryId, hookKey(model)];
    const key = keys.find((each) => each !== undefined && this.#open.has(each)) ?? row.id;
    const charge = this.#take(key, model);
    if (charge === undefined) {
      if (!isZero(row.usage))
        report("booked without a charge", `usage ${row.id} books what nothing was charged for`);
      return;
    }
    const difference = usageDifference(usageOf(charge), row.usage);
    if (difference !== undefined) {
      report(
        "booked another amount than was charged",
        `usage ${row.id} differs from its charge at ${difference}`,
      );
    }
  }

  /** A result without usage row: its executions must all be lost, or have cost nothing. */
  #settleCall(entryId: string, model: StoreModel, report: Report): void {
    if (this.#take(entryId, model) === undefined) return;
    report(
      "a charge of this life is not booked",
      `the execution for result ${entryId} was charged and not booked`,
    );
  }

  /** Whoever ends an operation from elsewhere settles nothing: what a pending request cost is booked by nobody. */
  #endedOutside(before: OperationState | undefined, model: StoreModel): void {
    this.#sinceOutsideEnd.happened();
    const usageId = pendingUsageId(before);
    const charge = usageId === undefined ? undefined : this.#take(usageId, model);
    if (charge !== undefined) this.#lost.push(charge);
  }

  /** A pending request that a state leaves without settling it is given up: allowed only for what was lost. */
  #giveUp(
    before: OperationState | undefined,
    after: OperationState | undefined,
    model: StoreModel,
    report: Report,
  ): void {
    const usageId = pendingUsageId(before);
    if (usageId === undefined || usageId === pendingUsageId(after)) return;
    if (this.#take(usageId, model) === undefined) return;
    report("a charge of this life is not booked", `the request under ${usageId} was charged and given up`);
  }

  /** Closes a key: what earlier lives were charged is lost; what this life was charged is returned. */
  #take(key: string, model: StoreModel): ScriptedUsage | undefined {
    const charges = this.#open.get(key);
    if (charges === undefined) return undefined;
    this.#open.delete(key);
    for (const charge of charges) if (charge.life < model.life) this.#lost.push(charge.usage);
    return charges.find(({ life }) => life >= model.life)?.usage;
  }
}

/** What a row of the world cost. */
function chargeOf(row: WorldRow, scenario: Scenario): ScriptedUsage | undefined {
  const usage = priceOf(row, scenario);
  // What costs nothing leaves nothing to conserve.
  return usage === undefined || usage.input + usage.output === 0 ? undefined : usage;
}

function priceOf(row: WorldRow, { tools }: Scenario): ScriptedUsage | undefined {
  switch (row.kind) {
    case "request":
    case "summary":
    case "decision":
      return row.usage;
    case "cancellation":
      return undefined;
    case "tool": {
      const tool = tools.find(({ name }) => name === row.tool);
      const fault = tool?.faults?.[row.callId];
      if (fault !== undefined) return fault.reports;
      const does = tool?.does;
      return does?.kind === "answers" ? does.usage : undefined;
    }
  }
}

/** Under which key a charge waits for its booking. */
function chargeKey(
  row: WorldRow,
  model: StoreModel,
  open: ReadonlyMap<string, unknown>,
  scenario: Scenario,
): string | undefined {
  switch (row.kind) {
    case "request":
      return requestKey(statesOf(scenario, row.lane, model), open);
    case "summary":
      return requestKey(statesOf(scenario, undefined, model), open);
    case "decision":
      return hookKey(model);
    case "cancellation":
      return undefined;
    case "tool":
      return callKey(row.callId, model);
  }
}

/** A hook's cost belongs to the work that it decides; its row is booked with the entry that it supplies. */
function hookKey(model: StoreModel): string | undefined {
  for (const { value } of model.registers("op.state")) {
    const decision = decisionOf(value);
    if (decision?.status === "deciding") return `hook:${decision.taskId}`;
  }
  return undefined;
}

/** The usage id of the request intent that is open, one without a charge first. */
function requestKey(
  states: readonly OperationState[],
  open: ReadonlyMap<string, unknown>,
): string | undefined {
  const ids = states.flatMap((state) => pendingUsageId(state) ?? []);
  return ids.find((id) => !open.has(id)) ?? ids[0];
}

function pendingUsageId(state: OperationState | undefined): string | undefined {
  const decision = decisionOf(state);
  if (decision?.status === "generating" && decision.generation.status === "effect_pending") {
    return decision.generation.request?.usageId;
  }
  if (state?.kind !== "run") return undefined;
  const { phase } = state;
  const pending =
    phase.kind === "assistant" ? phase.generation : phase.kind === "deferred" ? phase.deferred : undefined;
  return pending?.status === "effect_pending" ? pending.usageId : undefined;
}

/** The result id of a pending call, by the provider's id of the call. */
function callKey(callId: string, model: StoreModel): string | undefined {
  for (const { value } of model.registers("op.state")) {
    if (value.kind !== "run" || value.phase.kind !== "tools") continue;
    const { batch } = value.phase;
    const index = callsIn(assistantIn(model.entry(batch.assistantEntryId))).findIndex(
      ({ id }) => id === callId,
    );
    const call = batch.calls[index];
    if (call?.status === "effect_pending") return call.resultEntryId;
  }
  return undefined;
}

/** The ledger's form of a scripted charge: one millionth of a dollar a token. */
function usageOf({ input, output }: ScriptedUsage): Usage {
  const usd = (tokens: number) => tokens / 1_000_000;
  return {
    ...zeroUsage(),
    input,
    output,
    totalTokens: input + output,
    cost: { ...zeroUsage().cost, input: usd(input), output: usd(output), total: usd(input + output) },
  };
}

/** The first member in which two usages differ; sums of costs may differ in their last bits. */
function usageDifference(expected: Usage, found: Usage): string | undefined {
  return isSameUsage(expected, found) ? undefined : firstUsageDifference(expected, found);
}

/** This is asked after every commit, so the members are named and not looped over. */
function isSameUsage(one: Usage, other: Usage): boolean {
  return (
    one.input === other.input &&
    one.output === other.output &&
    one.cacheRead === other.cacheRead &&
    one.cacheWrite === other.cacheWrite &&
    one.totalTokens === other.totalTokens &&
    one.cacheWrite1h === other.cacheWrite1h &&
    one.reasoning === other.reasoning &&
    one.cost.input === other.cost.input &&
    one.cost.output === other.cost.output &&
    one.cost.cacheRead === other.cost.cacheRead &&
    one.cost.cacheWrite === other.cost.cacheWrite &&
    one.cost.total === other.cost.total
  );
}

function firstUsageDifference(expected: Usage, found: Usage): string | undefined {
  const tokens = [
    "input",
    "output",
    "cacheRead",
    "cacheWrite",
    "totalTokens",
    "cacheWrite1h",
    "reasoning",
  ] as const;
  for (const member of tokens) {
    if (expected[member] !== found[member]) return `${member}: ${expected[member]} and ${found[member]}`;
  }
  for (const member of ["input", "output", "cacheRead", "cacheWrite", "total"] as const) {
    const [one, other] = [expected.cost[member], found.cost[member]];
    if (Math.abs(one - other) > USD_TOLERANCE) return `cost.${member}: ${one} and ${other}`;
  }
  return undefined;
}

/** Far below one token of one millionth of a dollar, far above the rounding of a sum. */
const USD_TOLERANCE = 1e-9;

function isZero({ totalTokens, input, output, cost }: Usage): boolean {
  return totalTokens === 0 && input === 0 && output === 0 && cost.total === 0;
}

function tokensText({ input, output }: ScriptedUsage): string {
  return `${input} + ${output} tokens`;
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
