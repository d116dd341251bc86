/** Every invariant that is listed is broken at least once here, and found under its number. */
import { describe, expect, it } from "vitest";
import {
  type EntryDraft,
  type OperationState,
  REGISTER_NAMESPACES,
  type RunState,
  validateWrites,
  type Write,
} from "../../model/index.ts";
import type { ObservedCommit } from "../harness-check.ts";
import { harnessCommitOf } from "../harness-commit.ts";
import { recognise } from "../rows/recognise.ts";
import { StoreModel } from "../store-model.ts";
import { HISTORIES } from "../testing/histories.ts";
import { History, twoTools } from "../testing/history.ts";
import { judged, signatures, withEvents, withWrites } from "../testing/judging.ts";
import { preparation } from "../testing/structural-histories.ts";
import { assistant, drop, set, usageOf } from "../testing/values.ts";
import { formsIn } from "../write-form.ts";
import { INVARIANTS } from "./index.ts";
import { isAbout } from "./invariant.ts";

const found = (history: History) => signatures(history, "invariants");
const pending = () => new History().seed().prompt().ready().intent().request(0);
const user: EntryDraft & { type: "message" } = {
  type: "message",
  id: "new",
  parentId: null,
  message: { role: "user", content: "x", timestamp: 0 },
};
const insert = (entry: EntryDraft): Write => ({ kind: "entry", entry });
const queued = { type: "message", payload: user.message } as const;

/** The state writes of a history's last commit of a label, changed. */
const withState = (history: History, label: string, edit: (run: RunState) => OperationState) =>
  withWrites(history, label, (writes) =>
    writes.map((write) =>
      write.kind === "register" &&
      write.op === "set" &&
      write.namespace === "op.state" &&
      write.value.kind === "run"
        ? { ...write, value: edit(write.value) }
        : write,
    ),
  );
const without = (history: History, label: string, isLeftOut: (write: Write) => boolean) =>
  withWrites(history, label, (writes) => writes.filter((write) => !isLeftOut(write)));
const isSet = (namespace: string) => (write: Write) =>
  write.kind === "register" && write.op === "set" && write.namespace === namespace;
const isDrop = (namespace: string) => (write: Write) =>
  write.kind === "register" && write.op === "delete" && write.namespace === namespace;
const withResult = (history: History, edit: (result: { firstSeq: number; seqs: number[] }) => object) =>
  withEvents(history, (event) => {
    if (event.kind !== "commit" || event.boundary.label !== "generation.settle.finish") return event;
    const payload = event.payload as { result: { firstSeq: number; seqs: number[] } };
    return { ...event, payload: { ...payload, result: { ...payload.result, ...edit(payload.result) } } };
  });

const wrong: Record<string, () => History> = {
  "1: entry under an existing id": () => {
    const history = twoTools();
    return history.commit("again", [insert({ ...user, id: history.leaf ?? "", parentId: history.leaf })]);
  },
  "1: usage under an existing id": () => {
    const history = twoTools();
    const row = { id: history.leaf ?? "", adjustment: true, usage: usageOf(1, 1) };
    return history.commit("again", [{ kind: "usage", row }]);
  },
  "1: entry id twice in one transaction": () =>
    new History().commit("twice", [insert(user), insert({ ...user, parentId: "new" })]),
  "2: seq does not rise": () =>
    withResult(twoTools(), ({ firstSeq }) => ({ seqs: [firstSeq, firstSeq, firstSeq, firstSeq] })),
  "2: seqs missing": () => withResult(twoTools(), ({ seqs }) => ({ seqs: seqs.slice(1) })),
  "2: firstSeq": () => withResult(twoTools(), ({ firstSeq }) => ({ firstSeq: firstSeq + 1 })),
  "3: lane.config holds no value of its type": () =>
    new History().commit("null", [set("lane.config", "main", null as never)]),
  "3: op.state holds no value of its type": () =>
    withState(twoTools(), "generation.ready", (run) => ({ ...run, extra: 1 }) as never),
  "4: an entry and its pending.entry register at once": () =>
    new History().commit("both", [insert(user), set("pending.entry", "new", queued)]),
  "7: a message entry does not decode": () =>
    new History().commit("no message", [insert({ ...user, message: undefined as never })]),
  "7: a message entry does not decode (pending)": () =>
    new History().commit("pending", [insert({ ...user, message: assistant("pending", {}) })]),
  "9: the leaf jumps": () => {
    const history = twoTools();
    const first = history.model.entries()[0];
    return history.commit("jump", [set("lane.leaf", "main", first?.id ?? null)]);
  },
  "9: the leaf jumps (entry elsewhere)": () => {
    const history = twoTools();
    return history.commit("jump", [insert({ ...user, parentId: null }), set("lane.leaf", "main", "new")]);
  },
  "9: the leaf is deleted": () => twoTools().commit("no leaf", [drop("lane.leaf", "main")]),
  "11: a parent is missing": () => new History().commit("orphan", [insert({ ...user, parentId: "nobody" })]),
  "12: no op.meta": () => without(new History().prompt(), "acceptance.prompt", isSet("op.meta")),
  "12: no op.state": () => without(new History().prompt(), "acceptance.prompt", isSet("op.state")),
  "12: no op.meta (the operation has ended, and its lane still names it)": () =>
    without(twoTools(), "terminal.completed", isSet("lane.state")),
  "12: op.meta of another lane": () =>
    withWrites(new History().prompt(), "acceptance.prompt", (writes) =>
      writes.map((write) =>
        write.kind === "register" && write.op === "set" && write.namespace === "op.meta"
          ? { ...write, value: { ...write.value, operationId: "other" } }
          : write,
      ),
    ),
  "12: op.meta of another lane (alone)": () => {
    const history = pending();
    const meta = history.model.value("op.meta", history.operationId);
    if (meta === undefined) throw new Error("nothing is open");
    return history.commit("moved", [set("op.meta", history.operationId, { ...meta, lane: "side" })]);
  },
  "12: op.state of another kind (alone)": () => {
    const history = pending();
    const { control } = history.run;
    const phase = { kind: "ready_to_commit" } as const;
    return history.state("turned", { kind: "navigation", control, targetId: null, summarize: false, phase });
  },
  "12: op.state of another kind": () =>
    withState(new History().prompt(), "acceptance.prompt", ({ control }) => ({
      kind: "navigation",
      control,
      targetId: null,
      summarize: false,
      phase: { kind: "ready_to_commit" },
    })),
  "13: op.state without an open operation": () =>
    without(twoTools(), "terminal.completed", isDrop("op.state")),
  "13: op.meta without an open operation": () => without(twoTools(), "terminal.completed", isDrop("op.meta")),
  "13: op.meta without an open operation (its lane lets go of it)": () =>
    pending().commit("let go", [set("lane.state", "main", { currentOperationId: null, pendingNextRun: [] })]),
  "13: op.preparation without an open operation": () =>
    twoTools().commit("stray", [set("op.preparation", "nobody:task", preparation("compaction"))]),
  "13: lane.state is deleted": () => new History().seed().commit("forgotten", [drop("lane.state", "main")]),
  "13: op.tool_args without an open operation": () => {
    const history = new History().seed().prompt().ready().intent().request(0);
    history.settleTools([{ id: "call_1", name: "delete" }]).toolIntent(0, "never");
    history.toolSettle(0, { terminate: true }).completed();
    return withWrites(history, "tool.settle.last", (writes) =>
      writes.filter((write) => !isDrop("op.tool_args")(write)),
    );
  },
  "13: op.tool_args without an open operation (stray)": () =>
    twoTools().commit("stray", [set("op.tool_args", "nobody:step:0", {})]),
  "13: a pending.entry is left behind": () => {
    const history = pending();
    history.commit("queue.write", [
      set("pending.entry", "late", queued),
      set("op.state", history.operationId, {
        ...history.run,
        inbox: { ...history.run.inbox, writes: ["late"] },
      }),
    ]);
    return without(history.settleFinish().completed(), "terminal.completed", isDrop("pending.entry"));
  },
  "13: a lane's pending.entry is deleted": () => {
    const history = pending();
    history.commit("queue.next-run", [
      set("pending.entry", "next", queued),
      set("lane.state", "main", { ...history.lane, pendingNextRun: ["next"] }),
    ]);
    history.settleFinish().completed();
    return withWrites(history, "terminal.completed", (writes) => [drop("pending.entry", "next"), ...writes]);
  },
  "14: the lane is busy": () => new History().seed().prompt().prompt(),
  "15: the response is something else": () => {
    const history = pending();
    const { responseEntryId } = history.pending;
    return history.commit("other", [insert({ ...user, id: responseEntryId, parentId: history.leaf })]);
  },
  "15: the response's usage is something else": () => {
    const history = pending();
    const row = { id: history.pending.usageId, adjustment: false, usage: usageOf(1, 1) };
    return history.commit("other", [{ kind: "usage", row }]);
  },
  "15: the result of a call is something else": () => {
    const history = pending().settleTools([{ id: "call_1", name: "delete" }]);
    const [call] = history.batch.calls;
    return history.commit("other", [
      insert({ ...user, id: call?.resultEntryId ?? "", parentId: history.leaf }),
    ]);
  },
  "15: queued without a register": () => {
    const history = pending();
    const inbox = { ...history.run.inbox, steer: ["nobody"] };
    return history.state("queue.steer", { ...history.run, inbox });
  },
  "15: queued without a register (lane)": () =>
    new History().commit("queue", [
      set("lane.state", "main", { currentOperationId: null, pendingNextRun: ["nobody"] }),
    ]),
  "15: placed and still queued": () =>
    new History()
      .commit("queue", [set("pending.entry", "new", queued)])
      .commit("place", [insert(user), set("lane.leaf", "main", "new")]),
  "15: placed with another content": () =>
    new History()
      .commit("queue", [set("pending.entry", "new", queued)])
      .commit("place", [
        insert({ ...user, message: { role: "user", content: "another", timestamp: 0 } }),
        drop("pending.entry", "new"),
        set("lane.leaf", "main", "new"),
      ]),
  "16: lastResult outside a terminal transaction": () => {
    const history = pending();
    const value = {
      operationId: history.operationId,
      kind: "run",
      leafId: null,
      outcome: "aborted",
    } as const;
    return history.commit("early", [set("lane.lastResult", "main", value)]);
  },
  "16: an operation ends without a lastResult": () =>
    without(twoTools(), "terminal.completed", isSet("lane.lastResult")),
  "16: lastResult of another operation": () =>
    withWrites(twoTools(), "terminal.completed", (writes) =>
      writes.map((write) =>
        write.kind === "register" && write.op === "set" && write.namespace === "lane.lastResult"
          ? { ...write, value: { ...write.value, kind: "compaction" } as never }
          : write,
      ),
    ),
  "17: two open operations": () => new History().seed().prompt().prompt(),
  "18: overflow recovery out of nowhere": () =>
    withState(twoTools(), "tool.settle.last", (run) => ({
      ...run,
      phase: {
        kind: "checkpoint",
        continuation: { kind: "need_assistant", overflowRecoveryUsed: true },
        triggerEntryId: run.phase.kind === "checkpoint" ? run.phase.triggerEntryId : "",
      },
    })),
  "19: aborted while running": () => pending().settleAborted(),
  "20: triggerEntryId names no entry": () =>
    withState(twoTools(), "generation.settle.finish", (run) => ({
      ...run,
      phase: {
        kind: "checkpoint",
        continuation: { kind: "may_finish", includeFinalAssistant: true },
        triggerEntryId: "nobody",
      },
    })),
  "20: latestAssistantEntryId names no assistant entry": () =>
    withState(twoTools(), "generation.settle.finish", (run) => ({
      ...run,
      latestAssistantEntryId: "nobody",
    })),
  "20: a pending call has no arguments": () => without(twoTools(), "tool.intent", isSet("op.tool_args")),
  "20: a completed call has no result": () =>
    without(twoTools(), "tool.settle", (write) => write.kind === "entry"),
  "20: a batch misses calls": () =>
    withState(twoTools(), "generation.settle.tools", (run) =>
      run.phase.kind === "tools"
        ? {
            ...run,
            phase: { kind: "tools", batch: { ...run.phase.batch, calls: run.phase.batch.calls.slice(1) } },
          }
        : run,
    ),
  "20: the leaf names no entry": () =>
    without(twoTools(), "generation.settle.finish", (write) => write.kind === "entry"),
  "20: op.meta names no entry": () =>
    withWrites(new History().prompt(), "acceptance.prompt", (writes) =>
      writes.map((write) =>
        write.kind === "register" && write.op === "set" && write.namespace === "op.meta"
          ? { ...write, value: { ...write.value, sourceLeafId: "nobody" } }
          : write,
      ),
    ),
  "20: a structural decision has no preparation": () => {
    const history = pending();
    return history.state("overflow", {
      ...history.run,
      phase: {
        kind: "compaction",
        reason: "overflow",
        structural: { taskId: "task", status: "deciding" },
        resumeAfter: {
          kind: "checkpoint",
          continuation: { kind: "need_assistant", overflowRecoveryUsed: true },
          triggerEntryId: history.leaf ?? "",
        },
      },
    });
  },
  "21: a second end": () => {
    const history = twoTools();
    const end = history.steps.findLast(({ label }) => label === "terminal.completed");
    return history.commit("terminal.completed", end?.writes ?? []);
  },
  "21: a state without an operation": () => {
    const history = twoTools();
    const old = history.steps.findLast(({ label }) => label === "generation.ready");
    return history.commit("late", old?.writes ?? []);
  },
};

/** What the checks that are not about a commit have to say of it. The model holds the commit afterwards. */
function leftOut(seen: Omit<ObservedCommit, "found">, model: StoreModel): readonly string[] {
  const { writes, result } = seen;
  const commit = { ...seen, found: recognise(writes, model) };
  const said: string[] = [];
  const ask = (when: "before" | "after") => {
    for (const { number, [when]: check } of INVARIANTS) {
      if (check === undefined || isAbout(check, formsIn(writes))) continue;
      check.check(commit, model, (how) => said.push(`${number}: ${how}`));
    }
  };
  ask("before");
  model.apply(writes, result);
  ask("after");
  return said;
}

describe("the invariants", () => {
  it.each(Object.entries(wrong))("find %s", (name, build) => {
    const expected = `invariant ${name.replace(/ \(.*\)$/, "")}`;
    expect(found(build())).toContain(expected);
  });

  it("are each broken at least once above", () => {
    const broken = new Set(Object.keys(wrong).map((name) => Number.parseInt(name, 10)));
    expect(INVARIANTS.map(({ number }) => number).filter((number) => !broken.has(number))).toEqual([]);
  });

  it("hold over a right history, and over one that is torn apart by crashes", () => {
    expect(judged(twoTools(), "invariants")).toEqual([]);
    const history = new History({ maxAttempts: 3 })
      .crash()
      .seed()
      .crash()
      .prompt()
      .crash()
      .ready()
      .crash()
      .intent()
      .crash();
    history
      .retryUnknown()
      .crash()
      .intent()
      .request(0)
      .crash()
      .retryUnknown()
      .intent()
      .request(0)
      .settleFinish();
    expect(judged(history.crash().completed().crash(), "invariants")).toEqual([]);
  });

  /** A check that is left out where it is not about the writes must have nothing to say there. */
  const histories = { ...HISTORIES, ...wrong };
  it.each(Object.keys(histories))("leave none out that a commit of %s breaks", (name) => {
    const model = StoreModel.fresh();
    for (const event of histories[name as keyof typeof histories]?.().events ?? []) {
      if (event.kind !== "commit") {
        model.observe(event);
        continue;
      }
      const { writes, result, stats } = harnessCommitOf(event.payload);
      if (validateWrites(writes) !== undefined) continue;
      const commit = { writes, result, stats, boundary: event.boundary };
      expect(leftOut(commit, model)).toEqual([]);
    }
  });

  /** Most commits write of an operation and of its lane at once, and whichever form is forgotten, the other one asks. */
  it.each(Object.entries(HISTORIES))("leave none out that a single write in %s breaks", (_name, build) => {
    const model = StoreModel.fresh();
    const { events } = build();
    const commits = events.flatMap((event) =>
      event.kind === "commit" ? [{ ...harnessCommitOf(event.payload), boundary: event.boundary }] : [],
    );
    const written = commits.flatMap(({ writes }) => writes);
    for (const { writes, result, stats, boundary } of commits) {
      const deletes = REGISTER_NAMESPACES.flatMap((namespace) =>
        model.registers(namespace).map(({ key }) => drop(namespace, key)),
      );
      for (const write of [...written, ...deletes]) {
        const { firstSeq, timestamp } = result;
        const alone = { writes: [write], result: { firstSeq, seqs: [firstSeq], timestamp } };
        expect(leftOut({ ...alone, stats, boundary }, model.fork())).toEqual([]);
      }
      model.apply(writes, result);
    }
  });

  it("say which one is broken, in words and with the ids", () => {
    const [violation] = judged(
      new History().commit("orphan", [insert({ ...user, parentId: "nobody" })]),
      "invariants",
    );
    expect(violation).toEqual({
      checker: "invariants",
      signature: "invariant 11: a parent is missing",
      message:
        "invariant 11 (a parent exists before its child): entry new hangs below nobody, which does not exist",
    });
  });
});
