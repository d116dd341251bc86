/** Session files with calls that fail, as a `MediumFault` says. */
import type { FaultOutcome, FaultyLife, MediumFault, MediumFaultKind } from "../../faults/index.ts";
import type { SessionFile, SessionFiles } from "../../txlog/index.ts";

const throwing = (code: string, after: "nothing" | "a part" | "all" = "nothing"): FaultOutcome => {
  return { kind: "throws", code, after };
};
const EVERY_LIFE: readonly FaultyLife[] = ["first", "next"];

/** How files fail under a transactional session. Only a session that a death tore is cut off when it is opened. */
export const SESSION_FILE_FAULTS: readonly MediumFaultKind[] = [
  { name: "real-path-eio", calls: ["realPath"], lives: EVERY_LIFE, outcome: throwing("EIO") },
  { name: "list-eio", calls: ["list"], lives: EVERY_LIFE, outcome: throwing("EIO") },
  { name: "open-emfile", calls: ["open"], lives: EVERY_LIFE, outcome: throwing("EMFILE") },
  { name: "read-eio", calls: ["read"], lives: EVERY_LIFE, outcome: throwing("EIO") },
  { name: "append-eio", calls: ["append"], lives: EVERY_LIFE, outcome: throwing("EIO") },
  { name: "append-enospc", calls: ["append"], lives: EVERY_LIFE, outcome: throwing("ENOSPC", "a part") },
  { name: "append-short", calls: ["append"], lives: EVERY_LIFE, outcome: { kind: "short" } },
  { name: "append-late-eio", calls: ["append"], lives: EVERY_LIFE, outcome: throwing("EIO", "all") },
  {
    // Nothing can be taken back any more: what was appended stays, in part.
    name: "append-and-truncate-eio",
    calls: ["append", "truncate"],
    lives: EVERY_LIFE,
    outcome: throwing("EIO", "a part"),
  },
  {
    name: "append-late-and-truncate-eio",
    calls: ["append", "truncate"],
    lives: EVERY_LIFE,
    outcome: throwing("EIO", "all"),
  },
  { name: "truncate-eio", calls: ["truncate"], lives: ["next"], outcome: throwing("EIO") },
  { name: "close-eio", calls: ["close"], lives: EVERY_LIFE, outcome: throwing("EIO", "all") },
];

/** See the module header. */
export function faultySessionFiles(inner: SessionFiles, fault: MediumFault): SessionFiles {
  const call = <T>(name: string, all: () => Promise<T>): Promise<T> => failing(fault.next(name), name, all);
  const faulty = (file: SessionFile): SessionFile => ({
    read: () => call("read", () => file.read()),
    append: (bytes) =>
      failing(
        fault.next("append"),
        "append",
        () => file.append(bytes),
        () => file.append(bytes.subarray(0, bytes.length >> 1)),
      ),
    truncate: (length) => call("truncate", () => file.truncate(length)),
    setMode: (mode) => call("setMode", () => file.setMode(mode)),
    close: () => call("close", () => file.close()),
  });
  return {
    realPath: (path) => call("realPath", () => inner.realPath(path)),
    makeDirectory: (path) => call("makeDirectory", () => inner.makeDirectory(path)),
    list: (directory) => call("list", () => inner.list(directory)),
    create: async (path, mode) => faulty(await call("create", () => inner.create(path, mode))),
    open: async (path) => faulty(await call("open", () => inner.open(path))),
    remove: (path) => call("remove", () => inner.remove(path)),
  };
}

/** What a failed call leaves done is said of these; the others change nothing. */
const DONE_ALL_THE_SAME: ReadonlySet<string> = new Set(["append", "close"]);

async function failing<T>(
  outcome: FaultOutcome | undefined,
  name: string,
  all: () => Promise<T>,
  part?: () => Promise<T>,
): Promise<T> {
  if (outcome === undefined) return all();
  if (outcome.kind === "short") {
    if (part === undefined) throw new Error(`${name} cannot fall short`);
    return part();
  }
  if (outcome.after === "all" && DONE_ALL_THE_SAME.has(name)) await all();
  if (outcome.after === "a part") await part?.();
  throw Object.assign(new Error(`${outcome.code}: made to fail, ${name}`), { code: outcome.code });
}
