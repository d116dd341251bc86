/** What the tests of this folder share: a host and a session on files in memory, and files whose calls fail. */
import { idsOfIncarnation, VirtualClock } from "../../foundation/index.ts";
import type { NewFact } from "../fact-types.ts";
import type { SessionStoreError } from "./errors.ts";
import type { SessionFile, SessionFiles } from "./files.ts";
import { MemorySessionFiles } from "./memory-files.ts";
import { createSession, type SessionHost } from "./open.ts";
import type { FileSessionStore } from "./store.ts";
import { WriterLocks } from "./writer-locks.ts";

export const CWD = "/work";

export function host(files: SessionFiles, incarnation = 0): SessionHost {
  const clock = new VirtualClock();
  return { files, clock, ids: idsOfIncarnation(1, incarnation, clock), locks: new WriterLocks() };
}

export async function memory(): Promise<MemorySessionFiles> {
  const files = new MemorySessionFiles();
  await files.makeDirectory(CWD);
  return files;
}

export const user = (content: string): NewFact => ({
  kind: "entry",
  entry: { type: "message", message: { role: "user", content } },
});

export async function created(
  files: SessionFiles,
): Promise<{ store: FileSessionStore; id: string; host: SessionHost }> {
  const where = host(files);
  const store = await createSession(where, { cwd: CWD, model: "test/model" });
  return { store, id: (await store.load()).header.id, host: where };
}

/** What a rejection says. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return (error as SessionStoreError | undefined)?.code ?? "resolved";
}

export const contents = (files: MemorySessionFiles, store: { path: string }) =>
  Buffer.from(files.contents(store.path) ?? []).toString("utf8");

/** A file system whose next calls on files fail as told. */
export class FaultyFiles implements SessionFiles {
  readonly inner: MemorySessionFiles;
  append: ((file: SessionFile, bytes: Uint8Array) => Promise<number>) | undefined;
  truncate: ((file: SessionFile, length: number) => Promise<void>) | undefined;
  setMode: (() => Promise<void>) | undefined;
  closedCount = 0;

  constructor(inner: MemorySessionFiles) {
    this.inner = inner;
  }
  realPath = (path: string) => this.inner.realPath(path);
  makeDirectory = (path: string) => this.inner.makeDirectory(path);
  list = (path: string) => this.inner.list(path);
  remove = (path: string) => this.inner.remove(path);
  create = async (path: string) => this.#wrap(await this.inner.create(path));
  open = async (path: string) => this.#wrap(await this.inner.open(path));

  #wrap(file: SessionFile): SessionFile {
    return {
      read: () => file.read(),
      append: (bytes) => (this.append === undefined ? file.append(bytes) : this.append(file, bytes)),
      truncate: (length) =>
        this.truncate === undefined ? file.truncate(length) : this.truncate(file, length),
      setMode: (mode) => (this.setMode === undefined ? file.setMode(mode) : this.setMode()),
      close: async () => {
        this.closedCount += 1;
        await file.close();
      },
    };
  }
}

export const refuse = () => Promise.reject(new Error("EIO"));
