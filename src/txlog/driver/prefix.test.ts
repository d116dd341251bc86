/** The driver from every line prefix of every story: it comes to rest, and repeats no effect. */
import { describe, expect, it } from "vitest";
import { CWD, declaration } from "../../../fixtures/txlog/lives.ts";
import { sessions } from "../../../fixtures/txlog/sessions.ts";
import { idOf } from "../../../fixtures/txlog/story.ts";
import { idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import type { SessionState } from "../state.ts";
import { MemorySessionFiles } from "../store/memory-files.ts";
import { openSession } from "../store/open.ts";
import type { FileSessionStore, RecoverableStore } from "../store/store.ts";
import { WriterLocks } from "../store/writer-locks.ts";
import { labelOfTransaction, TRANSACTION_LABELS } from "../transaction-label.ts";
import type { ToolExecution, World } from "../world.ts";
import { type Rest, SessionDriver } from "./driver.ts";

const PATH = `${CWD}/.tiny-agent/sessions/2023-11-14T22-13-20-000Z_${idOf(0xabc)}.jsonl`;

const COST = { input: 3, output: 2, cacheRead: 0, cacheWrite: 0 };

/** A process that has just opened a file. */
class Opened {
  readonly disk = new MemorySessionFiles();
  readonly executed: ToolExecution[] = [];
  /** Of all commits of the driver. */
  readonly labels: string[] = [];
  requestCount = 0;

  async open(bytes: Uint8Array): Promise<{ store: FileSessionStore; driver: SessionDriver }> {
    this.disk.setContents(PATH, bytes);
    const clock = new VirtualClock();
    const ids = idsOfIncarnation(9, 0, clock);
    const store = await openSession(
      { files: this.disk, clock, ids, locks: new WriterLocks() },
      CWD,
      idOf(0xabc),
    );
    const world: World = {
      request: async () => {
        this.requestCount += 1;
        return { type: "answer", stopReason: "stop", content: "an answer", usage: COST };
      },
      execute: async (execution) => {
        this.executed.push(execution);
        return { type: "success", content: "a result", usage: COST };
      },
    };
    const seen: RecoverableStore = {
      commit: (facts) => {
        this.labels.push(labelOfTransaction(facts));
        return store.commit(facts);
      },
      load: () => store.load(),
      consult: (read) => store.consult(read),
      close: () => store.close(),
    };
    return { store, driver: new SessionDriver({ store: seen, world, ids, process: declaration }) };
  }
}

/** The stories are written under the declaration of the process, so that only two lost requests can block. */
function expectedRest({ operation }: SessionState): Rest {
  const step = operation.kind === "idle" || operation.abortRequested ? undefined : operation.step;
  return step?.status === "attempting" && step.attempt === 2
    ? { type: "blocked", reason: "attempts_exhausted" }
    : { type: "idle" };
}

/** Whether the last answer waits for results: a run that another writer gave up so takes no message any more. */
function hasOpenCall({ transcript }: SessionState): boolean {
  const last = transcript.findLastIndex((message) => message.role === "assistant");
  const answer = transcript[last];
  const calls = answer?.role === "assistant" ? (answer.tool_calls ?? []) : [];
  return calls.length > transcript.slice(last + 1).filter((message) => message.role === "tool").length;
}

async function checkPrefix(bytes: Buffer): Promise<void> {
  const process = new Opened();
  const { store, driver } = await process.open(bytes);
  const before = await store.load();
  const { operation } = before;
  const rest = await driver.resume();
  expect(rest).toEqual(expectedRest(before));
  if (rest.type === "blocked") {
    expect(Buffer.from(process.disk.contents(PATH) ?? []).equals(bytes)).toBe(true);
    expect([process.requestCount, process.executed]).toEqual([0, []]);
    await driver.abort();
    expect(await driver.resume()).toEqual({ type: "idle" });
  }
  const executed = process.executed.map((execution) => execution.toolStartedId);
  expect(new Set(executed).size).toBe(executed.length);
  const calls = operation.kind === "run" ? operation.toolCalls : [];
  for (const { toolStartedId, status, replay } of calls) {
    if (status === "completed" || replay === "never") expect(executed).not.toContain(toolStartedId);
  }
  if (operation.kind === "run" && operation.step?.stopReason === "stop") {
    expect([process.requestCount, process.executed]).toEqual([0, []]);
  }
  if (!hasOpenCall(await store.load())) {
    expect((await driver.prompt("next")).ok).toBe(true);
    await driver.resume();
    expect((await driver.compact(1)).ok).toBe(true);
    await driver.resume();
  }
  // Neither a message of the user alone nor usage alone: they ride along with what they belong to.
  for (const label of process.labels) expect(TRANSACTION_LABELS).toContain(label);
}

describe("from every prefix of a story", () => {
  it.each(sessions.map(({ name, story }) => [name, story] as const))(
    "the driver comes to rest: %s",
    async (_name, story) => {
      const { lines } = story();
      for (let count = 1; count <= lines.length; count++) {
        await checkPrefix(Buffer.from(`${lines.slice(0, count).join("\n")}\n`));
      }
    },
  );
});
