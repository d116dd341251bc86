/**
 * Transactions with the right writes in the right order that are wrong all the same: by the state before or after, by
 * an id, by a life. `catalogue.test.ts` breaks the writes themselves.
 */
import { describe, expect, it } from "vitest";
import type { OperationState, RunState, Write } from "../../model/index.ts";
import { History, twoTools } from "../testing/history.ts";
import { assistant, set, usageOf } from "../testing/values.ts";
import { recognise } from "./recognise.ts";

const pendingGeneration = (options = {}) => new History(options).seed().prompt().ready().intent();
const planned = (options = {}) =>
  pendingGeneration(options)
    .request(0)
    .settleTools([
      { id: "call_1", name: "read" },
      { id: "call_2", name: "delete" },
    ]);

describe("recognise refuses", () => {
  /** Breaks one transaction of a history by changing what it writes. */
  const edited = (history: History, label: string, edit: (write: Write) => Write | undefined) => {
    const step = history.steps.findLast((candidate) => candidate.label === label);
    if (step === undefined) throw new Error(`no ${label} in the history`);
    const writes = step.writes.flatMap((write) => edit(write) ?? []);
    return recognise(writes, step.before);
  };
  const editState = (edit: (run: RunState) => OperationState) => (write: Write) =>
    write.kind === "register" &&
    write.op === "set" &&
    write.namespace === "op.state" &&
    write.value.kind === "run"
      ? { ...write, value: edit(write.value) }
      : write;
  const editEntry =
    (edit: (entry: Extract<Write, { kind: "entry" }>["entry"]) => typeof entry) => (write: Write) =>
      write.kind === "entry" ? { ...write, entry: edit(write.entry) } : write;
  const asMessage = (entry: Extract<Write, { kind: "entry" }>["entry"]) => {
    if (entry.type !== "message") throw new Error("no message");
    return entry;
  };

  const wrong: Record<string, () => ReturnType<typeof recognise>> = {
    "a prompt that names another leaf as its source": () =>
      edited(twoTools(), "acceptance.prompt", (write) =>
        write.kind === "register" && write.op === "set" && write.namespace === "op.meta"
          ? { ...write, value: { ...write.value, sourceLeafId: "elsewhere" } }
          : write,
      ),
    "a prompt that does not skip its inbox": () =>
      edited(
        twoTools(),
        "acceptance.prompt",
        editState((run) => {
          if (run.phase.kind !== "checkpoint") return run;
          const { skipInboxOnce: _skip, ...phase } = run.phase;
          return { ...run, phase };
        }),
      ),
    "a prompt on a busy lane": () => {
      const step = new History().seed().prompt().steps.at(-1);
      const busy = new History().seed().prompt();
      return recognise(step?.writes ?? [], busy.model);
    },
    "a generation under another configuration than the lane's": () =>
      edited(
        twoTools(),
        "generation.ready",
        editState((run) => {
          if (run.phase.kind !== "assistant") return run;
          const { generation } = run.phase;
          const configuration = { ...generation.context.configuration, thinkingLevel: "high" as const };
          return {
            ...run,
            phase: {
              kind: "assistant",
              generation: { ...generation, context: { ...generation.context, configuration } },
            },
          };
        }),
      ),
    "an intent that skips an attempt": () =>
      edited(
        pendingGeneration({ maxAttempts: 3 }),
        "generation.intent",
        editState((run) => {
          if (run.phase.kind !== "assistant" || run.phase.generation.status !== "effect_pending") return run;
          return {
            ...run,
            phase: { kind: "assistant", generation: { ...run.phase.generation, attempt: 2 } },
          };
        }),
      ),
    "an intent that reserves an id twice": () =>
      edited(
        pendingGeneration(),
        "generation.intent",
        editState((run) => {
          if (run.phase.kind !== "assistant" || run.phase.generation.status !== "effect_pending") return run;
          const { generation } = run.phase;
          return {
            ...run,
            phase: { kind: "assistant", generation: { ...generation, usageId: generation.responseEntryId } },
          };
        }),
      ),
    "a settlement that forgets latestAssistantEntryId": () =>
      edited(
        twoTools(),
        "generation.settle.finish",
        editState((run) => ({ ...run, latestAssistantEntryId: null })),
      ),
    "a settlement that changes the settings": () =>
      edited(
        twoTools(),
        "generation.settle.finish",
        editState((run) => ({ ...run, settings: { ...run.settings, toolExecution: "sequential" } })),
      ),
    "a settlement under another id than R": () =>
      edited(
        twoTools(),
        "generation.settle.finish",
        editEntry((entry) => ({ ...entry, id: "other" })),
      ),
    "a settlement beside the leaf": () =>
      edited(
        twoTools(),
        "generation.settle.finish",
        editEntry((entry) => ({ ...entry, parentId: null })),
      ),
    "a settlement whose ledger row differs from the message": () =>
      edited(twoTools(), "generation.settle.finish", (write) =>
        write.kind === "usage" ? { ...write, row: { ...write.row, usage: usageOf(1, 1) } } : write,
      ),
    "a settlement booked as an adjustment": () =>
      edited(twoTools(), "generation.settle.finish", (write) =>
        write.kind === "usage" ? { ...write, row: { ...write.row, adjustment: true } } : write,
      ),
    "a batch whose result ids do not follow R": () => {
      const history = twoTools();
      history.clock.step(5);
      return edited(
        history,
        "generation.settle.tools",
        editState((run) => {
          if (run.phase.kind !== "tools") return run;
          const calls = run.phase.batch.calls.map((call) => ({ ...call, resultEntryId: history.id() }));
          return { ...run, phase: { kind: "tools", batch: { ...run.phase.batch, calls } } };
        }),
      );
    },
    "a batch that forgets a call": () =>
      edited(
        twoTools(),
        "generation.settle.tools",
        editState((run) => {
          if (run.phase.kind !== "tools") return run;
          return {
            ...run,
            phase: { kind: "tools", batch: { ...run.phase.batch, calls: run.phase.batch.calls.slice(1) } },
          };
        }),
      ),
    "a retry beyond the captured policy": () => pendingRetry(1),
    "a failure while a retry was due": () => {
      const history = pendingGeneration({ maxAttempts: 2 }).request(0);
      history.settleFailed("generation.settle.failed", "overloaded");
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a retry of an error that no retry helps": () => {
      const history = pendingGeneration({ maxAttempts: 2 }).request(0).settleRetry("insufficient_quota");
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a synthetic error below the cap": () => {
      const history = pendingGeneration({ maxAttempts: 2 }).request(0).crash().settleSynthetic();
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a synthetic error that bills something": () => {
      const history = pendingGeneration().request(0).crash();
      history.settleFailed("generation.settle.synthetic-error", "unknown", usageOf(1, 0));
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a real response for a request of an earlier life": () => {
      const history = pendingGeneration().request(0).crash().settleFinish();
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a later attempt for a request of this life": () => {
      const history = pendingGeneration({ maxAttempts: 2 }).request(0).retryUnknown();
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "an aborted response without a cancellation": () => {
      const history = pendingGeneration().request(0).settleAborted();
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a tool intent of a call that was passed over": () => {
      const history = planned().toolIntent(1, "never").toolIntent(0, "never");
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a second pending call in sequential mode": () => {
      const history = planned({ toolExecution: "sequential" }).toolIntent(0, "never").toolIntent(1, "never");
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a tool settlement out of source order": () => {
      const history = planned()
        .toolIntent(0, "never")
        .toolIntent(1, "never")
        .execute("call_2", "delete")
        .toolSettle(1);
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a result of another call": () =>
      edited(
        twoTools(),
        "tool.settle",
        editEntry((entry) => {
          const message = asMessage(entry).message;
          if (message.role !== "toolResult") return entry;
          return { ...asMessage(entry), message: { ...message, toolCallId: "call_9" } };
        }),
      ),
    "a terminating entry whose call does not terminate": () =>
      edited(
        twoTools(),
        "tool.settle",
        editEntry((entry) => ({ ...asMessage(entry), terminate: true })),
      ),
    "a synthetic result that is no error": () => {
      const history = planned().result("tool.synthetic", 0, { isError: false });
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "an interrupted result that terminates": () => {
      const history = planned()
        .toolIntent(0, "never")
        .crash()
        .result("tool.interrupted", 0, { isError: true, terminate: true });
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a success for a lost call that was not run again": () => {
      const history = planned().toolIntent(0, "never").execute("call_1", "read").crash().toolSettle(0);
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "an end while the checkpoint needs an assistant": () => {
      const history = new History().seed().prompt();
      history.terminal("terminal.completed", { outcome: "completed", runCompletion: "terminated_tools" });
      const step = history.steps.at(-1);
      return recognise(step?.writes ?? [], step?.before ?? history.model);
    },
    "a failed end with another error": () =>
      edited(pendingGeneration().request(0).settleFailed().failed(), "terminal.failed", (write) =>
        write.kind === "register" && write.op === "set" && write.namespace === "lane.lastResult"
          ? {
              ...write,
              value: { ...write.value, outcome: "failed", error: { code: "other", message: "" } } as never,
            }
          : write,
      ),
    "an end that empties the lane's queue": () => {
      const history = new History().seed();
      history.commit("queue.next-run", [
        set("pending.entry", "queued", { type: "message", payload: assistant("stop", {}) }),
        set("lane.state", "main", { currentOperationId: null, pendingNextRun: ["queued"] }),
      ]);
      history.prompt().ready().intent().request(0).settleFinish();
      history.completed();
      return edited(history, "terminal.completed", (write) =>
        write.kind === "register" && write.op === "set" && write.namespace === "lane.state"
          ? { ...write, value: { currentOperationId: null, pendingNextRun: [] } }
          : write,
      );
    },
  };

  function pendingRetry(maxAttempts: number) {
    const history = pendingGeneration({ maxAttempts }).request(0).settleRetry();
    const step = history.steps.at(-1);
    return recognise(step?.writes ?? [], step?.before ?? history.model);
  }

  it.each(Object.entries(wrong))("%s", (_, attempt) => {
    const found = attempt();
    expect(found.ok ? `accepted as ${found.name}` : "refused").toBe("refused");
  });

  it("with a message that names the closest rows and what they missed", () => {
    const found = pendingRetry(1);
    expect(found.ok ? "" : found.message).toContain(
      "generation.settle.retry: not true: the next attempt is k+1",
    );
  });
});
