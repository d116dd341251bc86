/**
 * The file that a result is written to.
 *
 * Invariants.
 * 1. A reader sees a whole result, or what was there before; never half of one.
 * 2. A device or a pipe is written to, and never replaced. A link stays: what it names is replaced, or made.
 * 3. What {@link assertWritable} lets pass can be written when the exploration is over, if its folder is as it was and
 *    has room. It leaves nothing behind.
 */
import {
  accessSync,
  constants,
  lstatSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { reasonOf, UsageError } from "./exit.ts";

/** Replaces a file whole. Throws what the system says if it cannot. */
export function writeWhole(file: string, text: string): void {
  const target = targetOf(file);
  if (!target.isReplaceable) {
    writeFileSync(file, text);
    return;
  }
  const temporary = besideOf(target.path, "tmp");
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, target.path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Finds out before an exploration of a minute that its result can be kept.
 *
 * @param checkpoint where finished units are kept, if anywhere: the result would be written over them.
 */
export function assertWritable(file: string, checkpoint?: string): void {
  try {
    const target = targetOf(file);
    // A file that its owner made read-only is to be kept, though its folder would let it be replaced.
    if (target.isThere) accessSync(target.path, constants.W_OK);
    if (checkpoint !== undefined && target.path === whereverOf(checkpoint)) {
      throw new Error("the checkpoint is kept there; name another file");
    }
    if (!target.isReplaceable) return;
    const probe = besideOf(target.path, "probe");
    writeFileSync(probe, "", { flag: "wx" });
    rmSync(probe);
  } catch (error) {
    const message = `cannot write the result to ${JSON.stringify(file)}: ${reasonOf(error)}`;
    throw new UsageError("UNWRITABLE_OUTPUT", message);
  }
}

/** Refuses what names no file, whatever is on the disk. */
export function assertNamesFile(file: string): void {
  if (file === "" || file.endsWith("/")) throw new Error("expected the path of a file, not of a folder");
}

interface Target {
  /** Links followed, wherever a file is, or would be made. */
  readonly path: string;
  readonly isThere: boolean;
  /** A file may be replaced, and nothing; a device, a pipe or a socket must not. */
  readonly isReplaceable: boolean;
}

function targetOf(file: string): Target {
  assertNamesFile(file);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw new Error("expected the path of a file, not of a folder");
  if (found?.isFile() === false) return { path: file, isThere: true, isReplaceable: false };
  return { path: placeOf(file), isThere: found !== undefined, isReplaceable: true };
}

/** Links followed, also one that names nothing yet. Links that go round in a circle have been refused by then. */
function placeOf(file: string): string {
  // The system's own answer: the other one takes `..` for the way back over a link, which it is not.
  const path = join(realpathSync.native(dirname(file)), basename(file));
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isSymbolicLink() === true ? placeOf(resolve(dirname(path), readlinkSync(path))) : path;
}

/** The same of a file that others open, and refuse if it is in no folder. */
function whereverOf(file: string): string | undefined {
  try {
    return targetOf(file).path;
  } catch {
    return undefined;
  }
}

/** A name of this process's own in the same folder, so that renaming is one step. */
function besideOf(path: string, what: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.${what}`);
}
