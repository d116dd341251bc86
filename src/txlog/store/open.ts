/**
 * Creating and opening sessions (spec §6).
 *
 * A file is created empty and gets its header in one write. So a process that dies in between leaves a file without a
 * complete first line, which nobody can open, or a session without facts; nothing between the two.
 */
import { join } from "node:path";
import type { Clock, IdGenerator } from "../../foundation/index.ts";
import { headerText, type SessionHeader } from "../header.ts";
import { type Reduction, reduce } from "../reduction.ts";
import { corruptionOf, refusedTransaction, SessionStoreError } from "./errors.ts";
import type { SessionFile, SessionFiles } from "./files.ts";
import { environmentIdentity, locateSession, sessionDirectory, sessionFileName } from "./location.ts";
import { FileSessionStore } from "./store.ts";
import { processLocks, type WriterLocks } from "./writer-locks.ts";

/** What sessions stand on. */
export interface SessionHost {
  readonly files: SessionFiles;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Those of the process unless told otherwise. */
  readonly locks?: WriterLocks;
}

export interface NewSession {
  readonly cwd: string;
  readonly model: string;
  /** `openrouter` unless told otherwise. */
  readonly provider?: string;
  /** What the surroundings say of themselves, usually in the variable `TINY_AGENT_ENVIRONMENT_IDENTITY`. */
  readonly environmentIdentity?: string;
}

/** Only the owner may read what a session holds. */
const FILE_MODE = 0o600;

/** Creates a session and leaves it open for writing. */
export async function createSession(host: SessionHost, session: NewSession): Promise<FileSessionStore> {
  const { files, clock, ids } = host;
  const realCwd = await files.realPath(session.cwd);
  await files.makeDirectory(sessionDirectory(session.cwd));
  const directory = await files.realPath(sessionDirectory(session.cwd));
  const header: SessionHeader = {
    id: ids.next(),
    createdAt: clock.now(),
    cwd: session.cwd,
    provider: session.provider ?? "openrouter",
    model: session.model,
    environmentIdentity: environmentIdentity(realCwd, session.environmentIdentity),
  };
  const bytes = Buffer.from(`${headerText(header)}\n`, "utf8");
  const reduction = reduce(bytes);
  if (!reduction.ok) throw refusedTransaction(reduction.error);
  const path = join(directory, sessionFileName(header.id, header.createdAt));
  return locked(host, path, async () => {
    const file = await files.create(path, FILE_MODE);
    return owning(file, async () => {
      try {
        const count = await file.append(bytes);
        if (count === bytes.length) return { path, file, reduction: reduction.value };
        throw new Error(`${count} of ${bytes.length} bytes were taken`);
      } catch (cause) {
        // A file that stays behind is one that nobody can open, so failing to remove it does no harm.
        await files.remove(path).catch(() => undefined);
        throw new SessionStoreError("WRITE_FAILED", `the header was not written to ${path}`, { cause });
      }
    });
  });
}

/**
 * Opens a session for writing: reads it, and cuts off its torn tail before anything can be appended.
 * @throws SessionStoreError if the file is not to be had; Corruption if it is refused, with no byte changed.
 */
export async function openSession(host: SessionHost, cwd: string, id: string): Promise<FileSessionStore> {
  const { files } = host;
  const path = await locateSession(files, cwd, id);
  return locked(host, path, async () => {
    const file = await files.open(path);
    return owning(file, async () => {
      const bytes = await file.read();
      const reduction = reduceFile(bytes, path);
      if (reduction.header.id !== id) {
        throw new SessionStoreError(
          "HEADER_MISMATCH",
          `session filename does not match header: ${path} holds session ${reduction.header.id}`,
        );
      }
      if (bytes.length > reduction.repairedLength) await file.truncate(reduction.repairedLength);
      await file.setMode(FILE_MODE);
      return { path, file, reduction };
    });
  });
}

interface OpenedFile {
  readonly path: string;
  readonly file: SessionFile;
  readonly reduction: Reduction;
}

/** Runs an opening under the lock of its file, which the store then holds; a failure releases it. */
async function locked(
  host: SessionHost,
  path: string,
  opening: () => Promise<OpenedFile>,
): Promise<FileSessionStore> {
  const release = (host.locks ?? processLocks).take(path);
  try {
    return new FileSessionStore({ ...(await opening()), clock: host.clock, ids: host.ids, release });
  } catch (error) {
    release();
    throw error;
  }
}

/** Runs a step on an open file, which a failure closes. */
async function owning<T>(file: SessionFile, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    // The failure of the step is what the caller must hear of, also if closing fails too.
    await file.close().catch(() => undefined);
    throw error;
  }
}

function reduceFile(bytes: Uint8Array, path: string): Reduction {
  const reduction = reduce(bytes);
  if (!reduction.ok) throw corruptionOf(reduction.error, path, bytes);
  return reduction.value;
}
