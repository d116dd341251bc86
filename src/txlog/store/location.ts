/**
 * Where a session stands: `<cwd>/.tiny-agent/sessions/<time>_<id>.jsonl` (spec §6).
 */
import { dirname, join } from "node:path";
import { isUuidV7 } from "../../foundation/index.ts";
import { SessionStoreError } from "./errors.ts";
import type { SessionFiles } from "./files.ts";

/** The directory of all sessions of a working directory. */
export function sessionDirectory(cwd: string): string {
  return join(cwd, ".tiny-agent", "sessions");
}

/** The name of a session's file. `createdAt` is in Unix milliseconds. */
export function sessionFileName(id: string, createdAt: number): string {
  return `${new Date(createdAt).toISOString().replace(/[:.]/g, "-")}_${id}.jsonl`;
}

/** The real path of the one file of a session. */
export async function locateSession(files: SessionFiles, cwd: string, id: string): Promise<string> {
  if (!isUuidV7(id)) {
    throw new SessionStoreError(
      "INVALID_SESSION_ID",
      `expected a UUIDv7 in lower case, found ${JSON.stringify(id)}`,
    );
  }
  const directory = await files.realPath(sessionDirectory(cwd)).catch(absent);
  const entries = directory === undefined ? [] : await files.list(directory);
  const names = entries
    .filter((entry) => entry.kind === "file" && entry.name.endsWith(`_${id}.jsonl`))
    .map((entry) => entry.name);
  const [name] = names;
  if (directory === undefined || name === undefined) {
    throw new SessionStoreError("SESSION_NOT_FOUND", `Session not found: ${id} in ${sessionDirectory(cwd)}`);
  }
  if (names.length > 1) {
    throw new SessionStoreError(
      "DUPLICATE_SESSION_ID",
      `Duplicate session ID: ${id} names ${names.join(" and ")}`,
    );
  }
  const path = await files.realPath(join(directory, name));
  if (dirname(path) !== directory) {
    throw new SessionStoreError("UNSAFE_SESSION_PATH", `Unsafe session path: ${path} is not in ${directory}`);
  }
  return path;
}

/** A directory that is not there holds no session; one that cannot be looked at may hold it. */
function absent(error: unknown): undefined {
  const { code } = error as { code?: unknown };
  if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
}

/** Where effects happen, as one text: a name that the surroundings give, or the real path of the working directory. */
export function environmentIdentity(realCwd: string, configured: string | undefined): string {
  const name = configured?.trim() ?? "";
  return name === "" ? realCwd : name;
}
