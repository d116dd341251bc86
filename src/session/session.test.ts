import { describe, expect, it } from "vitest";
import { Corruption, idsOfIncarnation, VirtualClock } from "../foundation/index.ts";
import type { AgentMessage, Entry, EntryDraft, OperationState } from "../model/index.ts";
import { MemoryDisk, MemoryStorage, type Storage } from "../storage/index.ts";
import { projectEntries, readContext } from "./context.ts";
import { detachJson } from "./detach.ts";
import { InvalidWrite } from "./invalid-write.ts";
import { Session } from "./session.ts";

const clock = new VirtualClock();

function open(storage: Storage = memory()): Session {
  return new Session({
    storage,
    metadata: { id: "s", createdAt: 1, storageVersion: 1 },
    idGenerator: idsOfIncarnation(1, 0, clock),
  });
}

function memory(): MemoryStorage {
  return new MemoryStorage({ disk: MemoryDisk.create({ id: "s", createdAt: 1, storageVersion: 1 }), clock });
}

/** A store that answers one register with a value of its own. */
function lying(value: unknown): Storage {
  return new Proxy(memory(), {
    get: (target, property) => {
      if (property === "getRegister") {
        return async (namespace: string, key: string) => ({ namespace, key, value, seq: 9 });
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

const user = (content: string, timestamp = 1): AgentMessage => ({ role: "user", content, timestamp });

function assistant(stopReason: "stop" | "length" | "error" | "aborted" | "deferred"): AgentMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text: stopReason }],
    api: "a",
    provider: "p",
    model: "m",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason,
    ...(stopReason === "deferred" ? { deferred: { provider: "p", modelId: "m", api: "a", id: "j" } } : {}),
    timestamp: 1,
  };
}

describe("commits", () => {
  it("refuse a register that its schema refuses, and write nothing", async () => {
    const session = open();
    const state = { kind: "run" } as unknown as OperationState;
    const wrong = session.commit({
      writes: [
        { kind: "entry", entry: { type: "message", id: "e1", parentId: null, message: user("hi") } },
        { kind: "register", op: "set", namespace: "op.state", key: "o", value: state },
      ],
    });
    await expect(wrong).rejects.toBeInstanceOf(InvalidWrite);
    await expect(wrong).rejects.toThrow("/writes/1/value");
    expect((await session.getEntries(["e1"])).size).toBe(0);
  });

  it("refuse a message of a role that is not registered", async () => {
    const message = { role: "note", timestamp: 1 } as unknown as AgentMessage;
    const entry: EntryDraft = { type: "message", id: "e1", parentId: null, message };
    await expect(open().commit({ writes: [{ kind: "entry", entry }] })).rejects.toThrow("a registered role");
  });
});

describe("typed reads", () => {
  it.each([
    ["a state of no kind", { kind: "walk" }],
    ["a missing field", { kind: "run", control: { status: "running" } }],
    ["null", null],
  ])("turn %s into a corruption with its place", async (_name, value) => {
    const read = open(lying(value)).getRegister("op.state", "o");
    await expect(read).rejects.toBeInstanceOf(Corruption);
    await expect(read).rejects.toThrow("op.state/o");
  });

  it("check a value again that is not frozen, because it may have changed", async () => {
    const value = { currentOperationId: null, pendingNextRun: [] as unknown[] };
    const session = open(lying(value));
    await session.getRegister("lane.state", "main");
    value.pendingNextRun.push(7);
    await expect(session.getRegister("lane.state", "main")).rejects.toBeInstanceOf(Corruption);
  });
});

describe("typed reads of entries", () => {
  it("check an entry again that is not frozen", async () => {
    const entry = { type: "message", id: "e1", parentId: null, seq: 1, timestamp: 1, message: user("hi") };
    const storage = new Proxy(memory(), {
      get: (target, property) => {
        if (property === "getEntries") return async () => new Map([["e1", entry]]);
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const session = open(storage);
    await session.getEntries(["e1"]);
    entry.type = "nothing";
    await expect(session.getEntries(["e1"])).rejects.toThrow("entry/e1");
  });
});

describe("messages", () => {
  it("lose members that are undefined, and nothing else", () => {
    expect(detachJson({ a: undefined, b: [{ c: undefined, d: 1 }] })).toEqual({ b: [{ d: 1 }] });
  });

  const cyclic: Record<string, unknown> = { a: undefined };
  cyclic.self = cyclic;
  cyclic.other = cyclic;
  it.each([
    ["an undefined in a list", { a: [undefined] }],
    ["a date", { a: undefined, b: new Date(0) }],
    ["NaN", { a: undefined, b: Number.NaN }],
    ["a cycle", cyclic],
  ])("are refused with their place for %s", (_name, value) => {
    expect(() => detachJson(value)).toThrow("which JSON cannot carry");
  });

  it("are refused while they are pending", () => {
    const pending = { ...assistant("stop"), stopReason: "pending" } as AgentMessage;
    expect(open().admitMessage(pending)).toMatchObject({ ok: false, error: { path: "/stopReason" } });
  });
});

describe("the context of a branch", () => {
  const at = (entry: EntryDraft): Entry => ({ ...entry, seq: 1, timestamp: 50 });
  const message = (id: string, said: AgentMessage): Entry =>
    at({ type: "message", id, parentId: null, message: said });

  it("leaves out responses without an answer and keeps a genuine length", async () => {
    const kept = ["stop", "length"] as const;
    const dropped = ["error", "aborted", "deferred"] as const;
    const entries = [...kept, ...dropped].map((reason) => message(reason, assistant(reason)));
    expect(await projectEntries(entries)).toEqual(kept.map(assistant));
  });

  it("starts at the newest compaction: its summary, its tail without failed responses, what follows", async () => {
    const compaction = at({
      type: "compaction",
      id: "c",
      parentId: null,
      summary: "before",
      retainedTail: [user("kept"), assistant("error")],
      tokensBefore: 9,
      fromHook: false,
    });
    expect(await projectEntries([compaction, message("u", user("after"))])).toEqual([
      { role: "compactionSummary", summary: "before", tokensBefore: 9, timestamp: 50 },
      user("kept"),
      user("after"),
    ]);
  });

  it("turns a branch summary into a message, and an empty one into nothing", async () => {
    const summary = (text: string) =>
      at({ type: "branch_summary", id: "b", parentId: null, fromId: "f", summary: text, fromHook: false });
    expect(await projectEntries([summary("left"), summary("")])).toEqual([
      { role: "branchSummary", summary: "left", fromId: "f", timestamp: 50 },
    ]);
  });

  it("holds custom entries only through a projector of their type", async () => {
    const custom = at({ type: "custom", id: "x", parentId: null, customType: "note", data: "n" });
    expect(await projectEntries([custom])).toEqual([]);
    expect(await projectEntries([custom], { note: ({ data }) => [user(String(data))] })).toEqual([user("n")]);
    expect(await projectEntries([custom], { toString: () => [user("no")] })).toEqual([]);
  });

  it("reads nothing before the compaction", async () => {
    const session = open();
    await session.commit({
      writes: [
        { kind: "entry", entry: { type: "message", id: "e1", parentId: null, message: user("old") } },
        {
          kind: "entry",
          entry: {
            type: "compaction",
            id: "e2",
            parentId: "e1",
            summary: "s",
            retainedTail: [],
            tokensBefore: 1,
            fromHook: false,
          },
        },
        { kind: "entry", entry: { type: "message", id: "e3", parentId: "e2", message: user("new") } },
      ],
    });
    const roles = (await readContext(session, "e3")).map(({ role }) => role);
    expect(roles).toEqual(["compactionSummary", "user"]);
    expect(await readContext(session, null)).toEqual([]);
  });
});
