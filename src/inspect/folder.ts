/**
 * A folder: every session below it, and what looks like one or was left by one. Links are not followed, so a walk ends
 * and leaves nothing that the folder does not hold; nothing is opened that could wait.
 */
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { lookAtFile, recognisedAt } from "./file.ts";
import type { FileFinding, PassedOver } from "./finding.ts";
import { lookAt, strangerOf, systemSays } from "./open-file.ts";
import type { Recognised } from "./recognise-file.ts";

/** What was found below a folder. */
export interface FolderFinding {
  readonly files: readonly FileFinding[];
  readonly passedOver: readonly PassedOver[];
  readonly otherFileCount: number;
  /** Whether the walk went through all of it. */
  readonly isComplete: boolean;
}

/** See the module header. */
export async function folderFinding(
  folder: string,
  nowMs: number,
  filesMax = FILES_MAX,
): Promise<FolderFinding> {
  const files: FileFinding[] = [];
  const walk = new Walk();
  let otherFileCount = 0;
  let seen = 0;
  for (const path of walk.filesBelow(folder)) {
    seen += 1;
    if (seen > filesMax) {
      walk.giveUp(folder, `only its first ${filesMax.toLocaleString("en")} files were looked at`);
      break;
    }
    const status = lookAt(path);
    if (status.kind !== "file") {
      walk.passBy(path, status.kind === "none" ? status.says : "it became a folder");
      continue;
    }
    const recognised = tryRecognise(path, status.byteLength);
    if (typeof recognised === "string" && !looksLikeSession(path)) walk.giveUp(path, recognised);
    else if (typeof recognised === "string" || isWorthSaying(recognised, path)) {
      files.push((await lookAtFile(path, status.byteLength, nowMs)).file);
    } else otherFileCount += 1;
  }
  return { files, passedOver: walk.passedOver, otherFileCount, isComplete: walk.isComplete };
}

const FILES_MAX = 20_000;

/** A walk through a folder, and what it left out. */
class Walk {
  readonly passedOver: PassedOver[] = [];
  /** False once something was left out that may have been a session. */
  isComplete = true;

  /** By name, the files of each folder before those of its folders. */
  *filesBelow(folder: string): Generator<string> {
    let names: Dirent[];
    try {
      names = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      this.giveUp(folder, systemSays(error));
      return;
    }
    names.sort((left, right) => (left.name < right.name ? -1 : 1));
    for (const name of names) {
      const path = join(folder, name.name);
      if (name.isFile()) yield path;
      else if (name.isSymbolicLink()) this.passBy(path, "links are not followed");
      else if (!name.isDirectory()) this.passBy(path, `${strangerOf(name)} is no session file`);
    }
    for (const name of names) if (name.isDirectory()) yield* this.filesBelow(join(folder, name.name));
  }

  passBy(path: string, why: string): void {
    this.passedOver.push({ path, why });
  }

  giveUp(path: string, why: string): void {
    this.passBy(path, why);
    this.isComplete = false;
  }
}

function tryRecognise(path: string, byteLength: number): Recognised | string {
  try {
    return recognisedAt(path, byteLength);
  } catch (error) {
    return systemSays(error);
  }
}

/** Of what is no session, only that is said which somebody may take for one. Files beside a database are said with it. */
function isWorthSaying(recognised: Recognised, path: string): boolean {
  switch (recognised.kind) {
    case "other":
      return looksLikeSession(path);
    case "side_file":
    case "leftover":
      return lookAt(join(path, "..", recognised.owner)).kind !== "file";
    default:
      return true;
  }
}

function looksLikeSession(path: string): boolean {
  return /\.(jsonl|db)$/.test(path);
}
