/**
 * Taking a name exclusively, among all processes of a machine: whoever holds it loses it by ending, however it ends.
 *
 * It is the lock of a SQLite database that nothing is written to: the kernel drops it with its process, so that no stale
 * one has to be told from a live one. The file stays, empty: whoever removed it could remove that of a later holder.
 */
import { accessSync, closeSync, constants, existsSync, openSync } from "node:fs";
import Database from "better-sqlite3";

/** Takes the file of this name. Returns what lets go of it; undefined if somebody else holds it. */
export function takeExclusively(path: string): (() => void) | undefined {
  // Made by hand: of a folder that cannot be written the system says more than the database does. But one that is there
  // is not opened: the kernel drops all locks of a process on a file when the process closes it once, however often it
  // has it open.
  if (existsSync(path)) accessSync(path, constants.W_OK);
  else closeSync(openSync(path, "a"));
  const database = new Database(path, { timeout: 0 });
  try {
    // A journal in a file would need room on a full disk, and would stand beside the file of a holder that was killed.
    database.pragma("journal_mode = MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code === "SQLITE_BUSY") return undefined;
    throw error;
  }
  return () => database.close();
}
