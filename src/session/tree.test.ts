import { describe, expect, it } from "vitest";
import { idsOfIncarnation, NotJson, VirtualClock } from "../foundation/index.ts";
import type { AgentMessage, Entry, EntryDraft, EntryType } from "../model/index.ts";
import { MemoryDisk, MemoryStorage, UnknownEntry } from "../storage/index.ts";
import { UnknownLabelTarget } from "./facts.ts";
import { InvalidWrite } from "./invalid-write.ts";
import { newLaneWrites } from "./lane.ts";
import { listLanes, UnknownLane } from "./lanes.ts";
import { Session } from "./session.ts";
import type { BranchQuery, EntryQuery } from "./tree.ts";
import { LaneOccupied } from "./tree-writer.ts";

const CONFIGURATION = {
  model: { provider: "acme", modelId: "large" },
  thinkingLevel: "off",
  activeToolNames: [],
} as const;

function newSession(): Session {
  const clock = new VirtualClock();
  const disk = MemoryDisk.create({ id: "s", createdAt: 1, storageVersion: 1 });
  return new Session({
    storage: new MemoryStorage({ disk, clock }),
    metadata: disk.metadata,
    idGenerator: idsOfIncarnation(1, 0, clock),
  });
}

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });

/** Two branches under a shared prefix, every type on each, with gaps in seq where registers were written. */
async function grown(): Promise<{ session: Session; entries: Entry[] }> {
  const session = newSession();
  const put = async (draft: EntryDraft) => {
    await session.commit({ writes: [{ kind: "entry", entry: draft }] });
    await session.setCustomFact("noise", draft.id);
  };
  const compaction = {
    type: "compaction" as const,
    summary: "s",
    retainedTail: [],
    tokensBefore: 1,
    fromHook: false,
  };
  const custom = (id: string, parentId: string | null, customType: string): EntryDraft => ({
    type: "custom",
    id,
    parentId,
    customType,
  });
  const message = (id: string, parentId: string | null): EntryDraft => ({
    type: "message",
    id,
    parentId,
    message: user(id),
  });
  await put(message("r", null));
  await put(custom("a", "r", "note"));
  await put({ ...compaction, id: "b", parentId: "a" });
  await put(custom("x", "b", "todo"));
  await put(message("c", "b"));
  await put({ type: "branch_summary", id: "d", parentId: "c", fromId: "x", summary: "s", fromHook: true });
  await put({ ...compaction, id: "e", parentId: "d" });
  await put(custom("y", "x", "note"));
  await put(custom("f", "e", "note"));
  await put(message("g", "f"));
  await session.commit({
    writes: [
      { kind: "register", op: "set", namespace: "lane.leaf", key: "main", value: "g" },
      ...newLaneWrites("side", "y", { ...CONFIGURATION, activeToolNames: [] }),
      ...newLaneWrites("empty", null, { ...CONFIGURATION, activeToolNames: [] }),
    ],
  });
  return { session, entries: await session.scanEntries({}) };
}

/** The semantics of spec §2.5, step by step over arrays. */
function expectedOnBranch(entries: readonly Entry[], leaf: string | null, query: BranchQuery): Entry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: Entry[] = [];
  for (let id = query.start ?? leaf; id !== null; ) {
    const entry = byId.get(id) as Entry;
    path.push(entry);
    id = entry.parentId;
  }
  const isNewestFirst = query.order !== "oldestFirst";
  if (!isNewestFirst) path.reverse();
  const stop = path.findIndex((entry) => entry.type === query.stopAtType || entry.id === query.stopAtId);
  const ended = stop < 0 ? path : path.slice(0, stop + 1);
  const filtered = ended.filter((entry) => matches(entry, query));
  const { cursor } = query;
  const after =
    cursor === undefined
      ? filtered
      : filtered.filter(({ seq }) => (isNewestFirst ? seq < cursor.seq : seq > cursor.seq));
  return after.slice(0, query.limit);
}

function expectedEverywhere(entries: readonly Entry[], query: EntryQuery): Entry[] {
  const isDescending = query.order !== "asc";
  const ordered = isDescending ? entries.toReversed() : entries;
  const { cursor } = query;
  return ordered
    .filter((entry) => matches(entry, query))
    .filter(({ seq }) => cursor === undefined || (isDescending ? seq < cursor.seq : seq > cursor.seq))
    .slice(0, query.limit);
}

function matches(entry: Entry, { type, customType }: { type?: EntryType; customType?: string }): boolean {
  if (type !== undefined && entry.type !== type) return false;
  return customType === undefined || (entry.type === "custom" && entry.customType === customType);
}

/** Every combination of one choice per field; undefined leaves a field out. */
function combinations<Query extends object>(
  fields: { readonly [K in keyof Query]: readonly unknown[] },
): Query[] {
  let queries: object[] = [{}];
  for (const [name, values] of Object.entries<readonly unknown[]>(fields)) {
    queries = queries.flatMap((query) =>
      values.map((value) => (value === undefined ? query : { ...query, [name]: value })),
    );
  }
  return queries as Query[];
}

describe("queries", () => {
  it("answer a branch as the specification orders it: path, stop, filter, cursor, limit", async () => {
    const { session, entries } = await grown();
    const cursors = [undefined, { seq: 0 }, ...entries.slice(2, 9).map(({ seq }) => ({ seq })), { seq: 999 }];
    const queries = combinations<BranchQuery>({
      start: [undefined, "y", "r"],
      order: [undefined, "newestFirst", "oldestFirst"],
      stopAtType: [undefined, "compaction", "branch_summary"],
      stopAtId: [undefined, "c", "y"],
      type: [undefined, "message", "custom", "compaction"],
      customType: [undefined, "note"],
      cursor: cursors,
      limit: [undefined, 0, 2],
    });
    for (const query of queries) {
      const expected = expectedOnBranch(entries, "g", query).map(({ id }) => id);
      const found = (await session.findEntriesOnBranch(query)).map(({ id }) => id);
      if (found.join() !== expected.join()) expect({ query, found }).toEqual({ query, found: expected });
    }
    expect(queries.length).toBeGreaterThan(10_000);
  });

  it("answer the whole session newest first, filtered before cursor and limit", async () => {
    const { session, entries } = await grown();
    const queries = combinations<EntryQuery>({
      order: [undefined, "asc", "desc"],
      type: [undefined, "message", "custom", "branch_summary"],
      customType: [undefined, "note", "none"],
      cursor: [undefined, { seq: 0 }, ...entries.map(({ seq }) => ({ seq })), { seq: 8.5 }, { seq: 999 }],
      limit: [undefined, 0, 1, 3, 99],
    });
    for (const query of queries) {
      expect(await session.findEntries(query)).toEqual(expectedEverywhere(entries, query));
    }
  });

  it("find the first of a query, or nothing", async () => {
    const { session } = await grown();
    expect((await session.findEntry())?.id).toBe("g");
    expect((await session.findEntry({ order: "asc" }))?.id).toBe("r");
    expect(await session.findEntry({ limit: 0 })).toBeUndefined();
    expect((await session.findEntryOnBranch({ type: "custom", customType: "note" }))?.id).toBe("f");
    expect(await session.findEntryOnBranch({ customType: "todo" })).toBeUndefined();
    expect((await session.getEntry("x"))?.id).toBe("x");
    expect(await session.getEntry("none")).toBeUndefined();
  });

  it("page through a branch without a gap or a repetition, whatever is appended meanwhile", async () => {
    const { session } = await grown();
    const seen: string[] = [];
    for (let cursor: { seq: number } | undefined; ; ) {
      const page = await session.findEntriesOnBranch({ limit: 2, ...(cursor ? { cursor } : {}) });
      if (page.length === 0) break;
      seen.push(...page.map(({ id }) => id));
      cursor = { seq: page.at(-1)?.seq ?? 0 };
      await session.appendMessage(user("meanwhile"));
    }
    expect(seen.join("")).toBe("gfedcbar");
  });

  it("start at the lane of the view, and nowhere on a lane at the root", async () => {
    const { session } = await grown();
    const ids = (found: Entry[]) => found.map(({ id }) => id).join("");
    expect(ids(await session.view("side").findEntriesOnBranch())).toBe("yxbar");
    expect(await session.view("empty").findEntriesOnBranch()).toEqual([]);
    expect(ids(await session.view("empty").findEntriesOnBranch({ start: "c" }))).toBe("cbar");
    expect(await session.view("side").getLeafId()).toBe("y");
    expect((await session.view("side").findEntries()).length).toBe(10);
    await expect(session.view("none").findEntriesOnBranch()).rejects.toBeInstanceOf(UnknownLane);
    await expect(session.findEntriesOnBranch({ start: "none" })).rejects.toBeInstanceOf(UnknownEntry);
  });
});

describe("facts", () => {
  it("hold the latest value; undefined deletes, again and again", async () => {
    const session = newSession();
    expect(await session.getName()).toBeUndefined();
    await session.setName("one");
    await session.setName("two");
    expect(await session.getName()).toBe("two");
    await session.setName("");
    expect(await session.getName()).toBe("");
    await session.setName(undefined);
    await session.setName(undefined);
    expect(await session.getName()).toBeUndefined();
  });

  it("keep null apart from nothing", async () => {
    const session = newSession();
    await session.setCustomFact("k", null);
    expect(await session.getCustomFact("k")).toBeNull();
    expect(await session.getCustomFact("l")).toBeUndefined();
    await session.setCustomFact("k", undefined);
    expect(await session.getCustomFact("k")).toBeUndefined();
    await session.setCustomFact("", { a: [1] });
    expect(await session.getCustomFact("")).toEqual({ a: [1] });
    await expect(session.setCustomFact("k", Number.NaN)).rejects.toBeInstanceOf(NotJson);
  });

  it("label entries that exist, and no others", async () => {
    const session = newSession();
    const id = await session.appendMessage(user("hi"));
    await session.setLabel(id, "start");
    expect(await session.getLabel(id)).toBe("start");
    await session.setLabel(id, undefined);
    expect(await session.getLabel(id)).toBeUndefined();
    await session.setLabel("none", undefined);
    await expect(session.setLabel("none", "x")).rejects.toBeInstanceOf(UnknownLabelTarget);
  });

  it("are the session's: every view shows them, and no leaf moves", async () => {
    const { session } = await grown();
    await session.view("side").setName("named");
    await session.view("side").setCustomFact("name", "no collision");
    expect(await session.getName()).toBe("named");
    expect(await session.getCustomFact("name")).toBe("no collision");
    expect([await session.getLeafId(), await session.view("side").getLeafId()]).toEqual(["g", "y"]);
  });
});

describe("appends", () => {
  it("place an entry under the leaf and move it, in one transaction", async () => {
    const { session } = await grown();
    const first = await session.appendMessage(user("more"));
    const second = await session.appendCustomEntry("note", null);
    const third = await session.appendCustomEntry("note");
    expect(await session.getLeafId()).toBe(third);
    const [last, middle, begin] = await session.findEntriesOnBranch({ limit: 3 });
    expect(last).not.toHaveProperty("data");
    expect(middle).toMatchObject({ id: second, parentId: first, data: null });
    expect(begin).toMatchObject({ id: first, parentId: "g", message: user("more") });
    expect(await session.view("side").getLeafId()).toBe("y");
  });

  it("stand in line on a lane: called at once, they make one branch in the order of the calls", async () => {
    const { session } = await grown();
    const ids = await Promise.all([1, 2, 3, 4].map((n) => session.view("side").appendCustomEntry("n", n)));
    const branch = await session.view("side").findEntriesOnBranch({ customType: "n", order: "oldestFirst" });
    expect(branch.map(({ id }) => id)).toEqual(ids);
  });

  it("refuse what cannot be stored, and leave the line free for the next", async () => {
    const session = newSession();
    const bad = { role: "note", timestamp: 1 } as unknown as AgentMessage;
    const results = await Promise.allSettled([
      session.appendMessage(bad),
      session.appendCustomEntry("", 1),
      session.appendCustomEntry("note", { a: Number.NaN }),
      session.view("none").appendMessage(user("x")),
      session.appendMessage(user("right")),
    ]);
    const errors = results.map((each) => (each.status === "rejected" ? each.reason.constructor : "done"));
    expect(errors).toEqual([InvalidWrite, InvalidWrite, NotJson, UnknownLane, "done"]);
    expect(await session.findEntries()).toHaveLength(1);
  });

  it("are refused on a lane that runs an operation, and leave it as it was", async () => {
    const { session } = await grown();
    const state = { currentOperationId: "op", pendingNextRun: [] };
    await session.commit({
      writes: [{ kind: "register", op: "set", namespace: "lane.state", key: "side", value: state }],
    });
    await expect(session.view("side").appendMessage(user("x"))).rejects.toBeInstanceOf(LaneOccupied);
    expect(await session.view("side").getLeafId()).toBe("y");
    await session.appendMessage(user("main is free"));
  });

  it("go through the writer of the harness that drives the session, in every view", async () => {
    const session = newSession();
    const before = session.view("main");
    const seen: unknown[] = [];
    session.writeTreesThrough({
      setFact: async (make) => {
        seen.push(await make());
      },
      append: async (lane, content) => {
        seen.push([lane, content.type]);
        return "reserved";
      },
    });
    expect(await before.appendMessage(user("x"))).toBe("reserved");
    await session.setName("x");
    await session.view("side").appendCustomEntry("note");
    expect(seen).toMatchObject([
      ["main", "message"],
      { namespace: "fact.name", value: "x" },
      ["side", "custom"],
    ]);
    expect(await session.findEntries()).toEqual([]);
  });
});

describe("lanes", () => {
  it("are listed with what they hold, main first", async () => {
    const { session } = await grown();
    const lanes = await listLanes(session);
    expect(lanes.map(({ name, leafId }) => [name, leafId])).toEqual([
      ["main", "g"],
      ["empty", null],
      ["side", "y"],
    ]);
    expect(lanes[0]?.configuration).toBeUndefined();
    expect(lanes[2]).toMatchObject({ configuration: CONFIGURATION, lastResult: undefined });
  });
});
