import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { canonicalJson, VirtualClock } from "../../foundation/index.ts";
import {
  type LaneConfiguration,
  type LaneState,
  type MessageEntry,
  type Operation,
  type OperationState,
  type SettledAssistantMessage,
  validateRegister,
} from "../../model/index.ts";
import { checkRegisters, nextAction, referencesOf } from "../../operation/index.ts";
import {
  JsonlStorage,
  MemoryFiles,
  type MigratableStorage,
  readJsonlSession,
  type SessionDump,
  SqliteStorage,
  STOP_FORMS,
  StoppingFiles,
  StorageFault,
} from "../../storage/index.ts";
import { fromVersion0 } from "./from-version-0.ts";
import { MIGRATIONS, type Migration, migrate, openMigrated } from "./migration.ts";

const fixture = readFileSync(
  new URL("../../../fixtures/sessions/version-0-open.jsonl", import.meta.url),
  "utf8",
);
const path = "s.jsonl";
const clock = () => new VirtualClock(1_767_600_010_000);
const MAIN_OPERATION = "019b8d3b-00a1-7000-8000-0000000000a1";
const RESEARCH_OPERATION = "019b8d3b-00a2-7000-8000-0000000000a2";

function filesWith(text: string): MemoryFiles {
  const files = new MemoryFiles();
  files.put(path, text);
  return files;
}

const openJsonl = (fileSystem: MemoryFiles | StoppingFiles, storageVersion = 1) =>
  JsonlStorage.open({ path, clock: clock(), fileSystem, storageVersion });

/** The same session in SQLite. */
function openSqlite(text: string): Promise<SqliteStorage> {
  const { metadata, dump } = readJsonlSession(Buffer.from(text));
  return SqliteStorage.create(
    { kind: "memory" },
    metadata,
    { clock: clock(), ownerId: "test", leaseDurationMs: 0 },
    dump,
  );
}

const dumpOf = (files: MemoryFiles) => readJsonlSession(files.contentOf(path)).dump;

function registerIn(dump: SessionDump, namespace: string, key: string): unknown {
  return dump.registers.find((each) => each.namespace === namespace && each.key === key)?.value;
}

/** The open operation of a lane, held against the rules that a harness holds it against. */
function openOperation(dump: SessionDump, lane: string) {
  const laneState = registerIn(dump, "lane.state", lane) as LaneState;
  const id = laneState.currentOperationId ?? "";
  return checkRegisters({
    lane,
    laneState,
    leafId: registerIn(dump, "lane.leaf", lane) as string | null,
    configuration: registerIn(dump, "lane.config", lane) as LaneConfiguration | undefined,
    operation: registerIn(dump, "op.meta", id) as Operation | undefined,
    state: registerIn(dump, "op.state", id) as OperationState | undefined,
  });
}

describe("a session of version 0 with open operations", () => {
  it("is carried to the current version on every store, with equal results", async () => {
    const files = filesWith(fixture);
    const jsonl = await openMigrated(openJsonl(files));
    const sqlite = await openMigrated(await openSqlite(fixture));
    expect(canonicalJson(sqlite.dump())).toBe(canonicalJson(jsonl.dump()));
    expect(jsonl.metadata).toEqual({
      id: "version-0-open",
      storageVersion: 1,
      createdAt: 1_767_600_000_000,
      cwd: "/work/shop",
    });
    for (const { namespace, key, value } of jsonl.dump().registers) {
      expect({ key, issue: validateRegister(namespace, value) }).toEqual({ key, issue: undefined });
    }
    // What was not to be converted is as it was, seqs included.
    const before = readJsonlSession(Buffer.from(fixture)).dump;
    expect(jsonl.dump().entries).toEqual(before.entries);
    expect(jsonl.dump().usage).toEqual(before.usage);
    expect(jsonl.dump().registers.filter(({ namespace }) => namespace.startsWith("fact."))).toEqual(
      before.registers.filter(({ namespace }) => namespace.startsWith("fact.")),
    );
    expect(canonicalJson(dumpOf(files))).toBe(canonicalJson(jsonl.dump()));
  });

  it("goes on where it was: a started tool call is not run again, and its arguments are kept", async () => {
    const storage = await openMigrated(openJsonl(filesWith(fixture)));
    const dump = storage.dump();
    const { open, leafId } = openOperation(dump, "main");
    const state = open?.state;
    expect(state).toMatchObject({
      kind: "run",
      control: { status: "running" },
      inbox: { steer: ["019b8d3b-0022-7000-8000-000000000022"] },
      phase: {
        kind: "tools",
        batch: {
          configuration: { model: { provider: "acme", modelId: "large" }, thinkingLevel: "off" },
          calls: [
            { status: "completed" },
            { status: "effect_pending", replay: "never" },
            { status: "planned" },
          ],
        },
      },
    });
    const laneState = registerIn(dump, "lane.state", "main") as LaneState;
    if (open === undefined) throw new Error("the lane runs an operation");
    const [argumentsKey] = referencesOf(laneState, leafId, open).toolArguments;
    expect(registerIn(dump, "op.tool_args", argumentsKey ?? "")).toEqual({ path: "older", force: true });
    const action = nextAction(open.state, {
      nowMs: clock().now(),
      running: new Set<string>(),
      deferredPollsRemaining: 0,
      tools: new Map([["remove", { replay: "safe", executionMode: "sequential" }]]),
      hasModel: () => true,
      batchAssistant: (dump.entries[1] as MessageEntry).message as SettledAssistantMessage,
    });
    expect(action).toEqual({ kind: "settle_tool", sourceIndex: 1, reason: { kind: "interrupted" } });
  });

  it("goes back to the checkpoint before a summary of which nothing was stored", async () => {
    const storage = await openMigrated(openJsonl(filesWith(fixture)));
    const { open } = openOperation(storage.dump(), "research");
    expect(open?.operation.operationId).toBe(RESEARCH_OPERATION);
    expect(open?.state).toMatchObject({
      phase: {
        kind: "checkpoint",
        continuation: { kind: "need_assistant", overflowRecoveryUsed: false },
        triggerEntryId: "019b8d3b-0005-7000-8000-000000000005",
      },
    });
    expect(registerIn(storage.dump(), "lane.lastResult", "archive")).toMatchObject({
      outcome: "failed",
      error: { message: "the provider was gone" },
    });
  });

  it("leaves no byte of the superseded shapes in a JSONL file", async () => {
    const files = filesWith(fixture);
    const storage = await openMigrated(openJsonl(files));
    const text = files.contentOf(path).toString("utf8");
    for (const mark of ['"cancelled"', '"nextRun"', '"prompts"', '"sent"']) {
      expect(fixture).toContain(mark);
      expect(text).not.toContain(mark);
    }
    expect(storage.bytes.dead).toBe(0);
    expect(JSON.parse(text.split("\n")[0] ?? "")).toMatchObject({ storageVersion: 1 });
  });

  it("takes superseded values of any shape, and refuses current ones that no version knows", async () => {
    const junk = `{"kind":"register","op":"set","seq":40,"namespace":"op.state","key":"${MAIN_OPERATION}","value":["junk"]}\n`;
    const state = fixture.split("\n").find((line) => line.includes('"request"')) ?? "";
    const mended = `${state.replace('"seq":9', '"seq":41')}\n`;
    const good = filesWith(fixture + junk + mended);
    await openMigrated(openJsonl(good));

    const text = fixture + junk;
    const bad = filesWith(text);
    const storage = openJsonl(bad);
    await expect(migrate(storage)).rejects.toMatchObject({
      name: "Corruption",
      reason: "migration_result",
      place: { subject: `op.state/${MAIN_OPERATION}` },
    });
    expect(bad.contentOf(path).toString("utf8")).toBe(text);
    expect(storage.metadata.storageVersion).toBe(0);
    const sqlite = await openSqlite(text);
    const before = canonicalJson(sqlite.dump());
    await expect(migrate(sqlite)).rejects.toMatchObject({ reason: "migration_result" });
    expect(canonicalJson(sqlite.dump())).toBe(before);
  });
});

describe("a migration that goes wrong", () => {
  it.each(STOP_FORMS)(
    "leaves the old session or the new one at every call that $kind $when",
    async (form) => {
      const whole = filesWith(fixture);
      await openMigrated(openJsonl(whole));
      const migrated = canonicalJson(dumpOf(whole));
      const old = canonicalJson(dumpOf(filesWith(fixture)));
      for (let call = 1; ; call++) {
        const files = filesWith(fixture);
        const stopping = new StoppingFiles(files);
        const storage = openJsonl(stopping);
        stopping.arm({ call, ...form });
        const outcome = await migrate(storage).catch((error: unknown) => error);
        const found = canonicalJson(dumpOf(files));
        expect([old, migrated]).toContain(found);
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(StorageFault);
        else expect(found).toBe(migrated);
        expect(storage.metadata.storageVersion).toBe(outcome instanceof Error ? 0 : 1);
        await openMigrated(openJsonl(files));
        expect(canonicalJson(dumpOf(files))).toBe(migrated);
        if (!stopping.hasFired) break;
      }
    },
  );

  const counter = (from: number): Migration => ({
    from,
    title: `count to ${from + 1}`,
    convert: (registers) =>
      registers
        .filter(({ key, value }) => key === "count" && value === from)
        .map((register) => ({ ...register, value: from + 1 })),
  });
  const counting = `${fixture.split("\n")[0]}\n{"kind":"register","op":"set","seq":1,"namespace":"fact.custom","key":"count","value":0}\n`;
  const chain = { migrations: [counter(2), counter(0), counter(1)], storageVersion: 3 };

  it("goes on at the recorded version, wherever the chain of steps was cut", async () => {
    const versions = new Set<number>();
    for (let call = 1; ; call++) {
      const files = filesWith(counting);
      const dying = new StoppingFiles(files);
      const storage = openJsonl(dying, 3);
      dying.arm({ call, kind: "dies", when: "after" });
      await migrate(storage, chain).catch(() => undefined);
      const { metadata, dump } = readJsonlSession(files.contentOf(path), undefined, 3);
      // The count tells how many steps were taken: value and version move together.
      expect(registerIn(dump, "fact.custom", "count")).toBe(metadata.storageVersion);
      versions.add(metadata.storageVersion);
      const steps = await migrate(openJsonl(files, 3), chain);
      expect(steps.map(({ from, to }) => [from, to])).toEqual(
        [0, 1, 2].slice(metadata.storageVersion).map((from) => [from, from + 1]),
      );
      expect(
        registerIn(readJsonlSession(files.contentOf(path), undefined, 3).dump, "fact.custom", "count"),
      ).toBe(3);
      if (!dying.hasFired) break;
    }
    expect([...versions].sort()).toEqual([0, 1, 2, 3]);
  });

  it("takes a step that changes no register, for its version alone", async () => {
    const files = filesWith(counting);
    const storage = openJsonl(files, 3);
    const still = {
      migrations: [0, 1, 2].map((from) => ({ ...counter(from), convert: () => [] })),
      storageVersion: 3,
    };
    expect((await migrate(storage, still)).map(({ changedCount }) => changedCount)).toEqual([0, 0, 0]);
    expect(storage.metadata.storageVersion).toBe(3);
    const sqlite = await openSqlite(counting);
    await migrate(sqlite, still);
    expect(canonicalJson(sqlite.dump())).toBe(canonicalJson(storage.dump()));
  });

  it("says so when no migration leads on, and leaves the session alone", async () => {
    const files = filesWith(counting);
    await expect(openMigrated(openJsonl(files), { migrations: [] })).rejects.toMatchObject({
      code: "MIGRATION_MISSING",
      from: 0,
    });
    expect(files.contentOf(path).toString("utf8")).toBe(counting);
    expect(files.openCount).toBe(0);
  });
});

describe("the chain of migrations", () => {
  it("has every migration, and one way on from each version", () => {
    expect(MIGRATIONS).toContain(fromVersion0);
    expect(new Set(MIGRATIONS.map(({ from }) => from)).size).toBe(MIGRATIONS.length);
  });

  it("is done by the first of two processes, and found done by the second", async () => {
    const files = filesWith(fixture);
    const late = openJsonl(files);
    await openMigrated(openJsonl(files));
    const migrated = files.contentOf(path);
    await expect(migrate(late)).rejects.toMatchObject({ name: "StorageFault", recovered: false });
    expect(files.contentOf(path)).toEqual(migrated);
    const second: MigratableStorage = openJsonl(files);
    expect(await migrate(second)).toEqual([]);
  });
});

describe("a session of a newer version", () => {
  const newer = fixture
    .replace('"storageVersion":0', '"storageVersion":2')
    .replace('"kind":"entry"', '"kind":"scroll"');

  it("is refused before its lines are read, and left alone", async () => {
    const files = filesWith(newer);
    const refusal = { code: "STORAGE_VERSION_TOO_NEW", expected: 1, found: 2, sessionId: "version-0-open" };
    expect(() => openJsonl(files)).toThrow(expect.objectContaining({ ...refusal, file: path }));
    expect(() => readJsonlSession(path, files)).toThrow(/newer program.*nothing was changed/);
    expect(files.contentOf(path).toString("utf8")).toBe(newer);
    expect(files.openCount).toBe(0);
  });

  it("is refused in SQLite, for reading too", async () => {
    const session = await openSqlite(fixture);
    await session.commitMigration({ writes: [] }, 2);
    const bytes = session.image();
    await session.close();
    const options = { clock: clock(), ownerId: "test", leaseDurationMs: 0 };
    const refusal = { code: "STORAGE_VERSION_TOO_NEW", expected: 1, found: 2 };
    await expect(SqliteStorage.open({ kind: "image", bytes }, options)).rejects.toMatchObject(refusal);
    const known = await SqliteStorage.open({ kind: "image", bytes }, { ...options, storageVersion: 2 });
    await expect(openMigrated(known)).rejects.toMatchObject(refusal);
  });
});
