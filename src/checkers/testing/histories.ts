/**
 * Right histories that together hold every row of the catalogue, by name. `rows/catalogue.test.ts` accepts each of
 * their transactions under its name and refuses each with a write missing, swapped or foreign.
 */
import type { AgentMessage, Inbox, PendingEntry, Write } from "../../model/index.ts";
import { deferredHistories } from "./deferred-histories.ts";
import { History, twoTools } from "./history.ts";
import { structuralHistories } from "./structural-histories.ts";
import { drop, set, usageOf } from "./values.ts";

const pending = (options = {}) => new History(options).seed().prompt().ready().intent();
const planned = (options = {}) =>
  pending(options)
    .request(0)
    .settleTools([
      { id: "call_1", name: "read" },
      { id: "call_2", name: "delete" },
    ]);

const message = (content = "queued"): AgentMessage => ({ role: "user", content, timestamp: 0 });
const queuedMessage = (content?: string): PendingEntry => ({ type: "message", payload: message(content) });
const queuedNote: PendingEntry = { type: "custom", customType: "note", payload: { any: 1 } };

/** Admits an item to a queue of the run. */
function admit(history: History, queue: keyof Inbox, label: string, item = queuedMessage()): History {
  const { inbox } = history.run;
  const id = history.id();
  return history.commit(label, [
    set("pending.entry", id, item),
    set("op.state", history.operationId, {
      ...history.run,
      inbox: { ...inbox, [queue]: [...inbox[queue], id] },
    }),
  ]);
}

/** Places the oldest items of a queue. */
function place(history: History, queue: keyof Inbox, label: string, count = 1): History {
  const { inbox, phase } = history.run;
  const ids = inbox[queue].slice(0, count);
  const projects = ids.some((id) => history.model.value("pending.entry", id)?.type === "message");
  const isCancelled = history.run.control.status === "cancel_requested";
  let parentId = history.leaf;
  const entries = ids.map((id): Write => {
    const item = history.model.value("pending.entry", id);
    if (item === undefined) throw new Error("nothing is queued");
    const placed = { id, parentId };
    parentId = id;
    return {
      kind: "entry",
      entry:
        item.type === "message"
          ? { ...placed, type: "message", message: item.payload }
          : { ...placed, type: "custom", customType: item.customType, data: item.payload ?? null },
    };
  });
  const triggerEntryId = ids.at(-1) ?? "";
  return history.commit(label, [
    ...entries,
    ...ids.map((id) => drop("pending.entry", id)),
    set("lane.leaf", "main", triggerEntryId),
    set("op.state", history.operationId, {
      ...history.run,
      inbox: { ...inbox, [queue]: inbox[queue].slice(count) },
      phase:
        projects && !isCancelled
          ? {
              kind: "checkpoint",
              continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
              triggerEntryId,
              skipInboxOnce: true,
            }
          : phase,
    }),
  ]);
}

function withdraw(history: History, queue: keyof Inbox): History {
  const { inbox } = history.run;
  const [id = "", ...rest] = inbox[queue];
  return history.commit("queue.cancel", [
    set("op.state", history.operationId, { ...history.run, inbox: { ...inbox, [queue]: rest } }),
    drop("pending.entry", id),
  ]);
}

function queueNextRun(history: History, content = "next"): History {
  const id = history.id();
  const { lane } = history;
  return history.commit("queue.next-run", [
    set("pending.entry", id, queuedMessage(content)),
    set("lane.state", "main", { ...lane, pendingNextRun: [...lane.pendingNextRun, id] }),
  ]);
}

/** A prompt that captures what was queued for it. */
function promptCapturing(history: History): History {
  const captured = history.lane.pendingNextRun;
  const [first = ""] = captured;
  const prompted = history.fork().prompt().steps.at(-1)?.writes ?? [];
  const own = prompted.flatMap((write) => (write.kind === "entry" ? [write.entry] : []));
  const [entry] = own;
  if (entry === undefined) throw new Error("a prompt has an entry");
  return history.commit("acceptance.prompt", [
    {
      kind: "entry",
      entry: { id: first, parentId: history.leaf, type: "message", message: message("next") },
    },
    { kind: "entry", entry: { ...entry, parentId: first } },
    ...captured.map((id) => drop("pending.entry", id)),
    ...prompted.flatMap((write): Write[] => {
      if (write.kind === "entry") return [];
      if (write.kind === "register" && write.op === "set" && write.namespace === "lane.state") {
        return [{ ...write, value: { ...write.value, pendingNextRun: [] } }];
      }
      return [write];
    }),
  ]);
}

const runHistories: Record<string, () => History> = {
  "two tools": () => twoTools(),
  "a retry": () =>
    pending({ maxAttempts: 2 })
      .request(0)
      .settleRetry("overloaded", usageOf(10, 5))
      .timer(1000)
      .retryDue()
      .intent()
      .request(0, 2)
      .settleFinish()
      .completed(),
  "a failure": () =>
    pending().request(0).settleFailed("generation.settle.failed", "bad key", usageOf(10, 5)).failed(),
  "retries used up": () =>
    pending().request(0).settleFailed("generation.settle.failed", "overloaded", usageOf(10, 5)),
  "a crash at the cap": () => pending().request(0).crash().settleSynthetic().failed(),
  "a crash below the cap": () =>
    pending({ maxAttempts: 2 })
      .request(0)
      .crash()
      .retryUnknown()
      .intent()
      .request(0)
      .settleFinish()
      .completed(),
  "tools that terminate": () =>
    planned()
      .toolIntent(0, "safe")
      .execute("call_1", "read")
      .toolSettle(0, { terminate: true, usage: usageOf(1, 1) })
      .toolIntent(1, "never")
      .execute("call_2", "delete")
      .toolSettle(1, { terminate: true })
      .completed(),
  "calls that never start": () =>
    planned().toolSynthetic(0).toolSynthetic(1).ready().intent().request(1).settleFinish().completed(),
  "calls that are lost": () =>
    planned()
      .toolIntent(0, "safe")
      .toolIntent(1, "never")
      .execute("call_1", "read")
      .execute("call_2", "delete")
      .crash()
      .toolInterrupted(0)
      .toolInterrupted(1)
      .ready()
      .intent()
      .request(1)
      .settleFinish()
      .completed(),
  "a safe call run again": () =>
    planned()
      .toolIntent(0, "safe")
      .execute("call_1", "read")
      .crash()
      .execute("call_1", "read")
      .toolSettle(0, { usage: usageOf(1, 1) })
      .toolSynthetic(1)
      .ready()
      .intent()
      .request(1)
      .settleFinish()
      .completed(),
  "an abort during a request": () => pending().request(0).abort().settleAborted(usageOf(10, 5)).aborted(),
  "an abort of a request that is lost": () => pending().request(0).abort().crash().settleAborted().aborted(),
};

const queueHistories: Record<string, () => History> = {
  "steering, consumed at a checkpoint": () => {
    const history = admit(new History().seed().prompt(), "steer", "queue.steer");
    history.ready().intent().request(0).settleFinish();
    return place(history, "steer", "checkpoint.steer").ready().intent().request(1).settleFinish().completed();
  },
  "a follow-up, consumed when nothing else is owed": () => {
    const history = admit(pending(), "followUp", "queue.follow-up").request(0).settleFinish();
    return place(history, "followUp", "checkpoint.follow-up")
      .ready()
      .intent()
      .request(1)
      .settleFinish()
      .completed();
  },
  "a follow-up that rescues a failed run": () => {
    const history = admit(pending(), "followUp", "queue.follow-up").request(0);
    history.settleFailed("generation.settle.failed", "bad key", usageOf(10, 5));
    return place(history, "followUp", "checkpoint.follow-up")
      .ready()
      .intent()
      .request(0, 2)
      .settleFinish()
      .completed();
  },
  "deferred writes, one that the model sees and one that it does not": () => {
    const history = admit(pending(), "writes", "queue.write", queuedNote).request(0).settleFinish();
    place(history, "writes", "checkpoint.writes-unprojected");
    admit(history, "writes", "queue.write");
    admit(history, "writes", "queue.write");
    return place(history, "writes", "checkpoint.writes", 2)
      .ready()
      .intent()
      .request(1)
      .settleFinish()
      .completed();
  },
  "a deferred write that survives an abort": () => {
    const history = admit(admit(pending(), "writes", "queue.write"), "steer", "queue.steer").request(0);
    admit(history.abort(), "writes", "queue.write").settleAborted(usageOf(10, 5));
    return place(history, "writes", "checkpoint.writes-unprojected", 2).aborted();
  },
  "a withdrawn item": () => {
    const history = withdraw(admit(pending(), "steer", "queue.steer"), "steer");
    return history.request(0).settleFinish().completed();
  },
  "items for the next run, one withdrawn and one captured": () => {
    const history = queueNextRun(queueNextRun(new History().seed(), "withdrawn"));
    const [id = "", ...pendingNextRun] = history.lane.pendingNextRun;
    history.commit("queue.cancel-next-run", [
      set("lane.state", "main", { ...history.lane, pendingNextRun }),
      drop("pending.entry", id),
    ]);
    return promptCapturing(history).ready().intent().request(0).settleFinish().completed();
  },
  "a follow-up of before_run_end": () => {
    const history = pending().request(0).settleFinish();
    const id = history.id();
    return history
      .commit("checkpoint.run-end-follow-up", [
        history.entry(id, message()),
        set("lane.leaf", "main", id),
        set("op.state", history.operationId, {
          ...history.run,
          phase: {
            kind: "checkpoint",
            continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
            triggerEntryId: id,
            skipInboxOnce: true,
          },
        }),
      ])
      .ready()
      .intent()
      .request(1)
      .settleFinish()
      .completed();
  },
};

const restHistories: Record<string, () => History> = {
  "an application on an idle lane": () => {
    const history = new History().seed();
    const id = history.id();
    const config = present(history.model.value("lane.config", "main"));
    return history
      .commit("lane.configure", [set("lane.config", "main", { ...config, thinkingLevel: "high" })])
      .commit("tree.append", [history.entry(id, message()), set("lane.leaf", "main", id)])
      .commit("fact.write", [set("fact.label", id, "here")])
      .commit("fact.write", [drop("fact.label", id)])
      .commit("fact.write", [set("fact.name", "", "a name")])
      .commit("fact.write", [drop("fact.name", "")])
      .commit("fact.write", [set("fact.custom", "key", { any: 1 })])
      .commit("fact.write", [drop("fact.custom", "key")])
      .commit("usage.adjust", [
        { kind: "usage", row: { id: history.id(), adjustment: true, usage: usageOf(-1, 0) } },
      ])
      .commit("lane.create", [
        set("lane.config", "other", config),
        set("lane.leaf", "other", id),
        set("lane.state", "other", { currentOperationId: null, pendingNextRun: [] }),
      ]);
  },
};

export const HISTORIES: Readonly<Record<string, () => History>> = {
  ...restHistories,
  ...runHistories,
  ...queueHistories,
  ...deferredHistories,
  ...structuralHistories,
};

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("the history has no such value");
  return value;
}
