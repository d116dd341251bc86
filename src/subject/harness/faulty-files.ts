/** The host's files with calls that fail, as a `MediumFault` says. */
import type { FaultOutcome, MediumFault, MediumFaultKind } from "../../faults/index.ts";
import { type FileSystem, filesThrough } from "../../storage/index.ts";

const throwing = (code: string, after: "nothing" | "a part" | "all" = "nothing"): FaultOutcome => {
  return { kind: "throws", code, after };
};

/**
 * How files fail under a JSONL session. What a name is given to, or what is brought to the device, is only asked for when
 * a file is replaced as a whole, which is upkeep here.
 */
export const FILE_FAULTS: readonly MediumFaultKind[] = [
  { name: "open-emfile", calls: ["open"], lives: ["first", "next", "upkeep"], outcome: throwing("EMFILE") },
  { name: "read-eio", calls: ["read"], lives: ["first", "next", "upkeep"], outcome: throwing("EIO") },
  { name: "fstat-eio", calls: ["fstat"], lives: ["first", "next", "upkeep"], outcome: throwing("EIO") },
  { name: "write-eio", calls: ["write"], lives: ["first", "next", "upkeep"], outcome: throwing("EIO") },
  {
    name: "write-enospc",
    calls: ["write"],
    lives: ["first", "next", "upkeep"],
    outcome: throwing("ENOSPC", "a part"),
  },
  { name: "write-short", calls: ["write"], lives: ["first", "next", "upkeep"], outcome: { kind: "short" } },
  {
    name: "write-late-eio",
    calls: ["write"],
    lives: ["first", "next", "upkeep"],
    outcome: throwing("EIO", "all"),
  },
  {
    // Nothing can be taken back any more: what was written stays, whole or not.
    name: "write-and-truncate-eio",
    calls: ["write", "truncate"],
    lives: ["first", "next"],
    outcome: throwing("EIO", "a part"),
  },
  {
    name: "write-late-and-truncate-eio",
    calls: ["write", "truncate"],
    lives: ["first", "next"],
    outcome: throwing("EIO", "all"),
  },
  { name: "truncate-eio", calls: ["truncate"], lives: ["next"], outcome: throwing("EIO") },
  {
    name: "close-eio",
    calls: ["close"],
    lives: ["first", "next", "upkeep"],
    outcome: throwing("EIO", "all"),
  },
  { name: "sync-eio", calls: ["sync"], lives: ["upkeep"], outcome: throwing("EIO") },
  { name: "sync-folder-eio", calls: ["syncFolder"], lives: ["upkeep"], outcome: throwing("EIO") },
  { name: "rename-eperm", calls: ["rename"], lives: ["upkeep"], outcome: throwing("EPERM") },
  {
    name: "rename-and-unlink-eperm",
    calls: ["rename", "unlink"],
    lives: ["upkeep"],
    outcome: throwing("EPERM"),
  },
  { name: "real-path-eio", calls: ["realPath"], lives: ["upkeep"], outcome: throwing("EIO") },
];

/** See the module header. */
export function faultyFiles(inner: FileSystem, fault: MediumFault): FileSystem {
  return filesThrough(inner, ({ name, make, write }) => {
    const half = write && (() => write.make(Math.floor(write.length / 2)));
    return failing(fault.next(name), name, make, half);
  });
}

const DONE_ALL_THE_SAME: ReadonlySet<string> = new Set(["write", "close"]);

/** Makes a call that goes as `outcome` says. `part` does a part of its work, where it has parts. */
function failing<T>(outcome: FaultOutcome | undefined, name: string, all: () => T, part?: () => T): T {
  if (outcome === undefined) return all();
  if (outcome.kind === "short") {
    if (part === undefined) throw new Error(`${name} cannot fall short`);
    return part();
  }
  // What a failed call leaves done is said of writing and closing; the others change nothing.
  if (outcome.after === "all" && DONE_ALL_THE_SAME.has(name)) all();
  if (outcome.after === "a part") part?.();
  throw Object.assign(new Error(`${outcome.code}: made to fail, ${name}`), { code: outcome.code });
}
