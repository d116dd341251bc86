/**
 * The folder of a repository whose sessions are files: which names it has, and that nothing leads out of it.
 *
 * Terms. *Root*: the folder with its links followed, found once; the caller may well name it through a link. *Own path*:
 * a plain name directly in the root, of a file that is a file and no link.
 *
 * Invariants.
 * 1. A new session is named after its id, so an id is restricted to what every file system keeps apart from other
 *    names; where one does not tell case apart, the id inside the file decides.
 * 2. Sessions that were put here by hand may have any name with the right ending.
 * 3. Links are looked for right before a file is opened, and files are opened without following one where the host can
 *    do that. A hard link cannot be told from a file.
 * 4. Folders that are made are their owner's alone (0700).
 */
import { lstatSync, mkdirSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { StorageFault } from "../../storage/index.ts";
import { ForeignSession, InvalidSessionId, SessionNotFound, type SkippedFile } from "./contract.ts";

/** Refuses an id that no new session can have, in a repository of any kind. @throws InvalidSessionId */
export function assertSessionId(id: string): void {
  if (!SESSION_ID.test(id)) throw new InvalidSessionId(id);
}

const SESSION_ID = /^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?$/;

/** See the module header. */
export class SessionFolder {
  readonly #named: string;
  readonly #extension: string;
  /** Endings of names that belong to a session file and must be no links either. */
  readonly #sideFiles: readonly string[];
  #root: string | undefined;

  /** @param extension with its dot */
  constructor(folder: string, extension: string, sideFiles: readonly string[] = []) {
    this.#named = resolve(folder);
    this.#extension = extension;
    this.#sideFiles = sideFiles;
  }

  /** Where a new session of this id goes; the folder is made if there is none. @throws InvalidSessionId, StorageFault */
  placeOf(id: string): string {
    assertSessionId(id);
    try {
      mkdirSync(this.#named, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw new StorageFault(`${this.#named} is no folder and could not be made one`, cause, true);
    }
    return join(this.#requireRoot(), id + this.#extension);
  }

  /** The path of an existing session, if it is an own path. @throws ForeignSession, SessionNotFound */
  ownPath({ id, path }: { readonly id: string; readonly path: string }): string {
    const name = basename(path);
    const parent = realPathOf(dirname(resolve(path)));
    if (parent === undefined) throw new SessionNotFound(id, path);
    if (parent !== this.#findRoot()) {
      throw new ForeignSession("outside", path, `it is not in the folder ${this.#named}`);
    }
    if (!this.#isSessionName(name)) {
      throw new ForeignSession("name", path, `the name of a session here ends in ${this.#extension}`);
    }
    const own = join(parent, name);
    const reason = this.#strangeness(own);
    if (reason === "missing") throw new SessionNotFound(id, path);
    if (reason === "link") throw new ForeignSession("link", path, "it is a link, or a file beside it is");
    if (reason === "not_a_file") throw new ForeignSession("not_a_file", path, "it is no file");
    return own;
  }

  /** The own paths that look like sessions, and through the callback those that look like one and are none. */
  ownPaths(onSkipped: (skipped: SkippedFile) => void): string[] {
    const root = this.#findRoot();
    if (root === undefined) return [];
    const paths = readdirSync(root)
      .filter((name) => this.#isSessionName(name))
      .sort()
      .map((name) => join(root, name));
    return paths.filter((path) => {
      const reason = this.#strangeness(path);
      if (reason === "link" || reason === "not_a_file") onSkipped({ path, reason });
      return reason === undefined;
    });
  }

  #isSessionName(name: string): boolean {
    return name.length > this.#extension.length && name.endsWith(this.#extension);
  }

  #strangeness(path: string): "missing" | "link" | "not_a_file" | undefined {
    const status = statusOf(path);
    if (status === undefined) return "missing";
    const isLinkBeside = this.#sideFiles.some((suffix) => statusOf(path + suffix)?.isSymbolicLink() === true);
    if (status.isSymbolicLink() || isLinkBeside) return "link";
    return status.isFile() ? undefined : "not_a_file";
  }

  #findRoot(): string | undefined {
    this.#root ??= realPathOf(this.#named);
    return this.#root;
  }

  #requireRoot(): string {
    const root = this.#findRoot();
    if (root === undefined)
      throw new StorageFault(`${this.#named} could not be found again`, undefined, true);
    return root;
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw new StorageFault(`${path} could not be looked at`, error, true);
  }
}

function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw new StorageFault(`${path} could not be looked at`, error, true);
  }
}

function isAbsence(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "ENOENT" || code === "ENOTDIR";
}
