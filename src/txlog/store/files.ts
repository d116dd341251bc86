/**
 * The file system as the store needs it, and nothing more: every call is a place where a real one can fail.
 *
 * The store is given one at construction, so that a run can put a faulty one in its place.
 */

/** What stands in a directory under one name. */
export interface DirectoryEntry {
  readonly name: string;
  /** `file` is a regular file that is no link. */
  readonly kind: "file" | "link" | "other";
}

/** One open file. Writes go to its end, wherever that is. */
export interface SessionFile {
  read(): Promise<Uint8Array>;
  /** Hands bytes to the system and says how many it took, which may be fewer than it was given. */
  append(bytes: Uint8Array): Promise<number>;
  truncate(length: number): Promise<void>;
  setMode(mode: number): Promise<void>;
  close(): Promise<void>;
}

export interface SessionFiles {
  /** The path without links. Rejects if it does not exist. */
  realPath(path: string): Promise<string>;
  /** Makes a directory and those above it; does nothing for those that exist. */
  makeDirectory(path: string): Promise<void>;
  list(directory: string): Promise<readonly DirectoryEntry[]>;
  /** Creates a file that must not exist. */
  create(path: string, mode: number): Promise<SessionFile>;
  /** Opens an existing file for reading and appending; refuses a link. */
  open(path: string): Promise<SessionFile>;
  remove(path: string): Promise<void>;
}
