/** What the tests of this folder share: small transactions, and files whose calls fail where a test says. */
import { type AgentMessage, type Transaction, zeroUsage } from "../../model/index.ts";
import type { SessionMetadata } from "../contract.ts";
import type { FileSystem } from "../files/file-system.ts";

export const PATH = "session.jsonl";
export const METADATA: SessionMetadata = { id: "s_1", createdAt: 1_000, storageVersion: 1 };

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
export function failingFiles(inner: FileSystem, plan: FailurePlan): FileSystem & { readonly fired: number } {
  let calls = 0;
  let fired = 0;
  const watch = <Args extends unknown[], T>(name: keyof FileSystem, real: (...args: Args) => T) => {
    return (...args: Args): T => {
      if (plan.watched !== undefined && !plan.watched.includes(name)) return real(...args);
      calls += 1;
      if (!plan.fails(calls)) return real(...args);
      fired += 1;
      if (name === "write" && (plan.mode === "torn" || plan.mode === "short")) {
        const [file, bytes, offset, length, position] = args as unknown as Parameters<FileSystem["write"]>;
        const count = inner.write(file, bytes, offset, Math.floor(length / 2), position);
        if (plan.mode === "short") return count as T;
      }
      if (plan.mode === "after") real(...args);
      throw new Injected(`${name} failed on purpose`);
    };
  };
  return {
    open: watch("open", (path, mode) => inner.open(path, mode)),
    read: watch("read", (file, into, offset, length, position) =>
      inner.read(file, into, offset, length, position),
    ),
    write: watch("write", (file, bytes, offset, length, position) =>
      inner.write(file, bytes, offset, length, position),
    ),
    truncate: watch("truncate", (file, sizeBytes) => inner.truncate(file, sizeBytes)),
    fstat: watch("fstat", (file) => inner.fstat(file)),
    close: watch("close", (file) => inner.close(file)),
    rename: watch("rename", (from, to) => inner.rename(from, to)),
    unlink: watch("unlink", (path) => inner.unlink(path)),
    link: watch("link", (existing, name) => inner.link(existing, name)),
    sync: watch("sync", (file) => inner.sync(file)),
    syncFolder: watch("syncFolder", (path) => inner.syncFolder(path)),
    list: watch("list", (folder) => inner.list(folder)),
    realPath: watch("realPath", (path) => inner.realPath(path)),
    get fired() {
      return fired;
    },
  };
}
