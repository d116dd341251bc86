/**
 * Manual drive: the same procedures, stopped before every effect (spec §4.2).
 *
 * `gated` wraps `Effects`, method by method: a call parks, shows itself as one JSON-safe `ActionInfo`, and goes on into
 * the very same method when it is released. There is no second way of doing anything, so a run that is stepped leaves
 * the state that a run on its own leaves.
 *
 * Invariants.
 * 1. While an action is parked it has had no effect: nothing durable was written for it, nothing outside was asked.
 * 2. Actions are shown and released in the order in which they parked. A release that leads to a new parked action
 *    before it is done (an effect within an effect) hands over to that one.
 * 3. When the harness ends, what is parked is rejected without being executed.
 * 4. A cancellation takes back the requests, tools, hooks and timers that are parked: they end as if they had not been
 *    started, which is what they would find. Commits stay parked, and find out by themselves.
 *
 * `finalizeTool` and the hooks do not park here: where there are handlers, their pipeline parks for itself.
 */
import type { JsonValue } from "../model/index.ts";
import { type CurrentOperation, describeState, type OperationEvent } from "../operation/index.ts";
import type { EffectPlan, Effects } from "./effects.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** One effect that is about to happen. */
export interface ActionInfo {
  /**
   * `commit_transition`, `commit_settlement`, `commit_terminal`, `provider_request`, `deferred_poll`,
   * `deferred_cancellation`, `tool_execution`, `hook` or `sleep`.
   */
  readonly kind: string;
  readonly description: string;
  readonly details?: JsonValue;
}

interface Parked {
  readonly info: ActionInfo;
  release(): Promise<unknown>;
  /** Ends it without executing it; absent where a cancellation leaves it parked. */
  readonly takeBack?: () => void;
}

/** Where the actions of a lane park. */
export class ManualGate {
  readonly #parked: Parked[] = [];
  readonly #lifecycle: Lifecycle;
  #arrivals = 0;
  /** Calls of the lane that are not answered yet: while there are any, something may still park. */
  #open = 0;
  #waiting: (() => void)[] = [];

  constructor(lifecycle: Lifecycle) {
    this.#lifecycle = lifecycle;
    lifecycle.onEnd(() => this.#changed());
  }

  /** Counts a call of the lane in until it is answered. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#open++;
    try {
      return await call();
    } finally {
      this.#open--;
      this.#changed();
    }
  }

  /** Parks an effect. With `instead` a cancellation ends it, with that outcome. */
  pass<T>(info: ActionInfo, effect: () => Promise<T>, instead?: () => T): Promise<T> {
    if (this.#lifecycle.end) return Promise.reject(this.#lifecycle.end);
    return new Promise((resolve, reject) => {
      const stopListening = this.#lifecycle.onEnd((end) => {
        const index = this.#parked.indexOf(item);
        if (index >= 0) this.#parked.splice(index, 1);
        reject(end);
      });
      const item: Parked = {
        info,
        release: () => {
          stopListening();
          const crossing = effect();
          crossing.then(resolve, reject);
          return crossing;
        },
        ...(instead && {
          takeBack: () => {
            stopListening();
            resolve(instead());
          },
        }),
      };
      this.#parked.push(item);
      this.#arrivals++;
      this.#changed();
    });
  }

  /** See invariant 4. */
  takeBack(): void {
    for (const item of this.#parked.filter(({ takeBack }) => takeBack !== undefined)) {
      this.#parked.splice(this.#parked.indexOf(item), 1);
      item.takeBack?.();
    }
    this.#changed();
  }

  /** The action that would be executed next; undefined when the lane has nothing to do. Changes nothing. */
  async peek(): Promise<ActionInfo | undefined> {
    while (this.#parked.length === 0 && this.#open > 0 && !this.#lifecycle.end) await this.#change();
    return this.#parked[0]?.info;
  }

  /** Executes one action; resolves when it is done or something new has parked. */
  async execute(): Promise<ActionInfo | undefined> {
    await this.peek();
    const item = this.#parked.shift();
    if (item === undefined) return undefined;
    const arrivalsBefore = this.#arrivals;
    let isDone = false;
    const finish = () => {
      isDone = true;
      this.#changed();
    };
    item.release().then(finish, finish);
    while (!isDone && this.#arrivals === arrivalsBefore && !this.#lifecycle.end) await this.#change();
    return item.info;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

/** The same effects, each behind the gate. */
export function gated(effects: Effects, gate: ManualGate): Effects {
  return {
    commitTransition: (current, event, expectation) =>
      gate.pass(transitionInfo(current, event), () => effects.commitTransition(current, event, expectation)),
    commitIntent: (current, event) =>
      gate.pass(transitionInfo(current, event), () => effects.commitIntent(current, event)),
    commitSettlement: (current, key, output) =>
      gate.pass(
        {
          kind: "commit_settlement",
          description: `settle ${key} (${describeState(current.state)})`,
          details: { effect: key, operationId: current.operation.operationId },
        },
        () => effects.commitSettlement(current, key, output),
      ),
    commitTerminal: (current, outcome) =>
      gate.pass(
        {
          kind: "commit_terminal",
          description: `end the operation as ${outcome.kind}`,
          details: {
            outcome: outcome.kind,
            operation: current.operation.intent.kind,
            operationId: current.operation.operationId,
          },
        },
        () => effects.commitTerminal(current, outcome),
      ),
    run: (plan) =>
      gate.pass(
        infoOf(plan),
        () => effects.run(plan),
        () => ({ kind: "not_started", plan }),
      ),
    finalizeTool: (raw) => effects.finalizeTool(raw),
    beforeRequest: (operation, request) => effects.beforeRequest(operation, request),
    beforeTool: (operation, call, cleared) => effects.beforeTool(operation, call, cleared),
    decide: (operation, work) => effects.decide(operation, work),
    beforeRunEnd: (current) => effects.beforeRunEnd(current),
    sleep: (delayMs) =>
      gate.pass(
        { kind: "sleep", description: `sleep ${delayMs} ms`, details: { delayMs } },
        () => effects.sleep(delayMs),
        () => undefined,
      ),
  };
}

function transitionInfo({ operation, state }: CurrentOperation, event: OperationEvent): ActionInfo {
  return {
    kind: "commit_transition",
    description: `commit ${event.kind} (${describeState(state)})`,
    details: { event: event.kind, operationId: operation.operationId },
  };
}

function infoOf(plan: EffectPlan): ActionInfo {
  switch (plan.kind) {
    case "assistant": {
      const { provider, modelId } = plan.generation.context.configuration.model;
      const { attempt } = plan.generation;
      return {
        kind: "provider_request",
        description: `ask ${provider}/${modelId}, attempt ${attempt}`,
        details: { effect: plan.key, operationId: plan.operation.operationId, attempt },
      };
    }
    case "summary": {
      const { provider, modelId } = plan.generation.context.configuration.model;
      const { attempt } = plan.generation;
      return {
        kind: "provider_request",
        description: `ask ${provider}/${modelId} for a summary (${plan.stage}), attempt ${attempt}`,
        details: { effect: plan.key, operationId: plan.operation.operationId, attempt, stage: plan.stage },
      };
    }
    case "deferred": {
      const { poll } = plan.deferred;
      return {
        kind: "deferred_poll",
        description: `poll deferred job ${plan.handle.id}, poll ${poll}`,
        details: { effect: plan.key, operationId: plan.operation.operationId, poll },
      };
    }
    case "cancel_deferred":
      return {
        kind: "deferred_cancellation",
        description: `cancel deferred job ${plan.handle.id}`,
        details: { effect: plan.key, operationId: plan.operation.operationId },
      };
    case "tool": {
      const { call, sourceIndex } = plan;
      return {
        kind: "tool_execution",
        description: `execute ${call.name} (${call.id})`,
        details: {
          effect: plan.key,
          toolCallId: call.id,
          toolName: call.name,
          sourceIndex,
          args: plan.arguments,
        },
      };
    }
  }
}
