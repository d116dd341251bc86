/** Right histories of a provider that answers later; see `histories.ts`. */
import type { AssistantMessage, Deferred, DeferredHandle, RunState } from "../../model/index.ts";
import { History } from "./history.ts";
import { assistant, CONFIGURATION, set, usageOf } from "./values.ts";

const handle: DeferredHandle = { provider: "scripted", modelId: "model", api: "scripted", id: "job" };
const usage = usageOf(10, 5);
const stillPending = assistant("deferred", { usage, deferred: handle });

const deferredOf = (history: History): Deferred => {
  const { phase } = history.run;
  if (phase.kind !== "deferred") throw new Error("nothing is deferred");
  return phase.deferred;
};
const pendingOf = (history: History) => {
  const deferred = deferredOf(history);
  if (deferred.status !== "effect_pending") throw new Error("no poll is in flight");
  return deferred;
};

/** A run whose first answer is deferred. */
export function suspended(): History {
  const history = new History().seed().prompt().ready().intent().request(0);
  const { responseEntryId, context } = history.pending;
  const deferred: Deferred = {
    status: "suspended",
    stepId: context.stepId,
    sourceEntryId: responseEntryId,
    poll: 0,
    configuration: CONFIGURATION,
    streamOptions: {},
  };
  return history.settle("generation.settle.deferred", stillPending, {
    ...history.run,
    latestAssistantEntryId: responseEntryId,
    phase: { kind: "deferred", deferred },
  });
}

export function poll(history: History, label = "deferred.intent"): History {
  const { status: _status, ...job } = deferredOf(history);
  const { stepId, sourceEntryId, configuration, streamOptions } = job;
  return history.state(label, {
    ...history.run,
    phase: {
      kind: "deferred",
      deferred: {
        status: "effect_pending",
        ...{ stepId, sourceEntryId, configuration, streamOptions },
        poll: label === "deferred.intent" ? job.poll + 1 : job.poll,
        responseEntryId: history.id(),
        usageId: history.id(),
      },
    },
  });
}

function settle(
  history: History,
  label: string,
  message: AssistantMessage,
  phase: RunState["phase"],
): History {
  const { responseEntryId, usageId } = pendingOf(history);
  return history.commit(label, [
    history.entry(responseEntryId, message),
    set("lane.leaf", "main", responseEntryId),
    {
      kind: "usage",
      row: { id: usageId, entryId: responseEntryId, adjustment: false, usage: message.usage },
    },
    set("op.state", history.operationId, { ...history.run, latestAssistantEntryId: responseEntryId, phase }),
  ]);
}

function stillDeferred(history: History): History {
  const { stepId, configuration, streamOptions, poll: count, responseEntryId } = pendingOf(history);
  return settle(history, "deferred.settle.pending", stillPending, {
    kind: "deferred",
    deferred: {
      status: "suspended",
      ...{ stepId, configuration, streamOptions },
      poll: count,
      sourceEntryId: responseEntryId,
    },
  });
}

const finishing = (history: History): RunState["phase"] => ({
  kind: "checkpoint",
  continuation: { kind: "may_finish", includeFinalAssistant: true },
  triggerEntryId: pendingOf(history).responseEntryId,
});

export const deferredHistories: Record<string, () => History> = {
  "a deferred answer, pending twice, then there": () => {
    const history = poll(stillDeferred(poll(suspended()).request(0))).request(0);
    return settle(
      history,
      "deferred.settle.finish",
      assistant("stop", { usage }),
      finishing(history),
    ).completed();
  },
  "a deferred answer with a tool call": () => {
    const history = poll(suspended()).request(0);
    const { responseEntryId, stepId } = pendingOf(history);
    const content = [{ type: "toolCall" as const, id: "call_2", name: "delete", arguments: {} }];
    settle(history, "deferred.settle.tools", assistant("toolUse", { usage, content }), {
      kind: "tools",
      batch: {
        assistantEntryId: responseEntryId,
        configuration: CONFIGURATION,
        turnId: stepId,
        calls: [{ status: "planned", sourceIndex: 0, resultEntryId: history.id(responseEntryId) }],
      },
    });
    return history.toolSynthetic(0).ready().intent().request(1).settleFinish().completed();
  },
  "a poll that fails": () => {
    const history = poll(suspended()).request(0);
    const { responseEntryId } = pendingOf(history);
    const message = assistant("error", { usage, errorMessage: "another handle" });
    return settle(history, "deferred.settle.failed", message, {
      kind: "failure_drain",
      error: { code: "provider_error", message: "another handle" },
      provenance: { kind: "response", entryId: responseEntryId },
    }).failed();
  },
  "a poll that is lost, and made again": () => {
    const history = poll(poll(suspended()).request(0).crash(), "deferred.intent-again").request(0);
    return settle(
      history,
      "deferred.settle.finish",
      assistant("stop", { usage }),
      finishing(history),
    ).completed();
  },
  "a cancellation while a poll is lost": () => {
    const history = poll(suspended()).request(0).abort().crash();
    const message = assistant("aborted", { errorMessage: "aborted" });
    return settle(history, "deferred.settle.aborted", message, finishing(history)).aborted();
  },
};
