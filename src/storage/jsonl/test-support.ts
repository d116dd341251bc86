/** What the tests of this folder share: a session and small transactions, and files whose calls fail where a test says. */
import { VirtualClock } from "../../foundation/index.ts";
import { type AgentMessage, type Transaction, zeroUsage } from "../../model/index.ts";
import type { SessionMetadata } from "../contract.ts";
import type { FileSystem } from "../files/file-system.ts";
import { type FileCall, FilesThrough } from "../files/files-through.ts";
import { MemoryFiles } from "../files/memory-files.ts";
import { JsonlStorage } from "./storage.ts";

export const PATH = "session.jsonl";
export const METADATA: SessionMetadata = { id: "s_1", createdAt: 1_000, storageVersion: 1 };

export const clock = () => new VirtualClock(2_000);

/** Files in memory that hold a new session. */
export function created(): MemoryFiles {
  const files = new MemoryFiles();
  JsonlStorage.create({ path: PATH, metadata: METADATA, clock: clock(), fileSystem: files }).abandon();
  return files;
}

export function open(fileSystem: FileSystem): JsonlStorage {
  return JsonlStorage.open({ path: PATH, clock: clock(), fileSystem });
}

export async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error) => error,
  );
}

/** A transaction of one message entry. */
export function messageOf(id: string, parentId: string | null, content = "hi"): Transaction {
  const message: AgentMessage = { role: "user", content, timestamp: 1 };
  return { writes: [{ kind: "entry", entry: { type: "message", id, parentId, message } }] };
}

/** A transaction of one custom fact. */
export function factOf(key: string, value: string): Transaction {
  return { writes: [{ kind: "register", op: "set", namespace: "fact.custom", key, value }] };
}

/** A transaction of several writes of every kind. */
export function settlementOf(id: string, parentId: string | null, content: string): Transaction {
  return {
    writes: [
      ...messageOf(id, parentId, content).writes,
      { kind: "usage", row: { id: `u_${id}`, usage: zeroUsage(), entryId: id, adjustment: false } },
      { kind: "register", op: "set", namespace: "lane.leaf", key: "main", value: id },
      { kind: "register", op: "delete", namespace: "fact.label", key: "gone" },
    ],
  };
}

/** How a call fails: before its effect, after it, or, for a write, in the middle or short without an error. */
export type FailureMode = "before" | "after" | "torn" | "short";

/** A failure that was put in. */
export class Injected extends Error {
  override readonly name = "Injected";
  readonly code = "EIO";
}

/** Which calls fail. Calls are counted from 1, over all kinds that are watched. */
export interface FailurePlan {
  readonly mode: FailureMode;
  /** Whether the call with this number fails. */
  readonly fails: (call: number) => boolean;
  /** The kinds of calls that are counted; default all. */
  readonly watched?: readonly (keyof FileSystem)[];
}

/** A file system whose calls fail by plan; `fired` tells how many did. */
export class PlannedFailures extends FilesThrough {
  fired = 0;
  readonly #plan: FailurePlan;
  #calls = 0;

  constructor(inner: FileSystem, plan: FailurePlan) {
    super(inner);
    this.#plan = plan;
  }

  protected pass<T>({ name, make, write }: FileCall<T>): T {
    const { mode, fails, watched } = this.#plan;
    if (watched !== undefined && !watched.includes(name)) return make();
    this.#calls += 1;
    if (!fails(this.#calls)) return make();
    this.fired += 1;
    if (write !== undefined && (mode === "torn" || mode === "short")) {
      const count = write.make(Math.floor(write.length / 2));
      if (mode === "short") return count;
    }
    if (mode === "after") make();
    throw new Injected(`${name} failed on purpose`);
  }
}
